"""Which paper, and which of its tables, each of our methods belongs to."""

from __future__ import annotations

STEREOSET = "StereoSet, Nadeem et al. 2021"
CROWS_PAIRS = "CrowS-Pairs, Nangia et al. 2020"
SENSITIVITY = "SeT, Cao et al. 2022"
BIAS_BENCH = "CrowS-Pairs as bias-bench computes it, Meade et al. 2022"
RECOGNITION = "Detecting Hate Speech with GPT-3, Chiu et al. 2021"
OURS = "not from a paper"

SOURCES = {
    "cat-likelihood": f"{STEREOSET}, Tables 4 and 6",
    "cat-sum-likelihood": f"{OURS}: cat-likelihood, summed",
    "cat-pseudo-likelihood": f"{STEREOSET}, Tables 5 and 7",
    "cat-forced-choice": f"{OURS}: the items as questions",
    "pair-likelihood": f"{CROWS_PAIRS}, Table 2",
    "pair-random-masks-likelihood": f"{CROWS_PAIRS}, section 3",
    "pair-all-masks-likelihood": f"{CROWS_PAIRS}, section 3",
    "pair-modified-likelihood": f"{BIAS_BENCH}, for masked models",
    "pair-sentence-likelihood": "CrowS-Pairs as lm-evaluation-harness computes it",
    "pair-sentence-mean-likelihood": f"{BIAS_BENCH}, for causal models",
    "pair-after-change-likelihood": f"{OURS}: the causal counterpart of pair-likelihood",
    "pair-forced-choice": f"{OURS}: the items as questions",
    "fact-likelihood": f"{OURS}: facts against their contradiction",
    "set": f"{SENSITIVITY}, Tables 5 and 6",
    "ilps": f"ILPS, Kurita et al. 2019; {SENSITIVITY}, Table 6",
    "ilps-star": f"{SENSITIVITY}, Table 6",
    "causal-set": f"{OURS}: SeT for causal models",
    "causal-ilps": f"{OURS}: ILPS for causal models",
    "ceat": f"CEAT, Guo and Caliskan 2021; {SENSITIVITY}, Table 6",
    "ceat-two-group": "CEAT, Guo and Caliskan 2021",
    "recognition-zero-shot": f"{RECOGNITION}, Table 1",
    "recognition-one-shot": f"{RECOGNITION}, Table 2",
    "recognition-few-shot-single": f"{RECOGNITION}, Table 3",
    "recognition-few-shot-mixed": f"{RECOGNITION}, Tables 4 to 6",
    "recognition-few-shot-mixed-instruction": f"{RECOGNITION}, Table 7",
    "recognition-misspelling": f"{RECOGNITION}, Tables 22 and 23",
    "survey": f"{OURS}: the survey of Cao et al. 2022, section 4, put to a model",
}
