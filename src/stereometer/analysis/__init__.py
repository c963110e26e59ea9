"""What a data set is like before any model is measured on it: the analyses of Nadeem et al. 2021, section 4 and appendix."""
