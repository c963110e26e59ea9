"""Simulated participants who go through the real pages, so that a study is tried before people."""
