"""From what single people said to one label: the rules of StereoSet and of CrowS-Pairs."""
