"""Scripts that train weights for the package. `minilm_mlm` makes a masked model that does not ship yet."""
