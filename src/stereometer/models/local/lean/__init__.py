"""Faster trunks and heads for structures that are recognised, checked against the generic ones.

Everything here is exact, does less and touches less memory:

* linear layers run over the tokens of all texts of a batch at once; only attention is by length;
* the first layer's projections depend on (token, position) alone, which copies mostly share;
* the last layer is computed only where something is asked; its keys and values are never made;
* texts that begin alike share the nodes of a trie: linear layers run over nodes, attention over the
  paths through them;
* the head runs over slices of the vocabulary that stay in the processor's cache.
"""
