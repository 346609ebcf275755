"""Statistics over made-up data, as scikit-learn, scipy, statsmodels and irrCAC compute them.

    python make_statistics.py --many 200 DIRECTORY    # a large random set, other data for every --seed

irrCAC 0.4.4 declares an older scipy than it needs to run: install it with --no-deps.
"""

import argparse
import itertools
import json
import math
import random
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import scipy
import sklearn
import statsmodels
from irrCAC.raw import CAC
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_test
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa, to_table
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint


def statistics(seed=20261121, many=1):
    """The content of statistics.json: `many` cases of every kind."""
    dice = random.Random(seed)
    groups = [two_raters, many_raters, correlation, proportion, clustered_se, paired_clustered, mcnemar,
              paired_permutation, exhaustive_bootstrap, percentiles, multiple_comparison]
    content = {
        "schema": "statistics/1",
        "generated_with": {
            "scikit-learn": sklearn.__version__, "scipy": scipy.__version__, "statsmodels": statsmodels.__version__,
            "numpy": np.__version__, "irrCAC": "0.4.4",
        },
        "tolerance": {"default_relative": 1e-9, "gwet_ac1_absolute": 1e-9, "p_values_relative": 1e-8},
    }
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for group in groups:
            made = [case for _ in range(many) for case in group(dice)]
            content[group.__name__] = [{"id": f"{group.__name__}-{i:02}"} | case for i, case in enumerate(made, 1)]
    return plain(content)


def plain(value):
    """JSON's own types; what is not a finite number as text."""
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(v) for v in value]
    if isinstance(value, (float, np.floating)):
        value = float(value)
        return "NaN" if math.isnan(value) else value if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"
    return int(value) if isinstance(value, np.integer) else value


def two_raters(dice):
    for n, labels, noise in [(dice.randint(5, 40), [0, 1], 0.2), (300, [1, 2, 3, 4, 5], 0.5), (40, ["C", "N", "U"], 0.3),
                             (dice.randint(6, 30), [1, 2, 7], 0.9), (15, [0, 1], 0.0), (9, [3], 0.0), (1500, [0, 1, 2], 0.01)]:
        first = [dice.choice(labels) for _ in range(n)]
        second = [dice.choice(labels) if dice.random() < noise else label for label in first]
        rows = [list(pair) for pair in zip(first, second)]
        expected = {"agreement": sum(a == b for a, b in rows) / n, "cohen_kappa": cohen_kappa_score(first, second),
                    "gwet_ac1": gwet(rows)}
        if not isinstance(labels[0], str):
            expected["cohen_kappa_linear"] = cohen_kappa_score(first, second, weights="linear")
            expected["cohen_kappa_quadratic"] = cohen_kappa_score(first, second, weights="quadratic")
            found = cohens_kappa(to_table(np.array(rows))[0])
            expected["kappa_standard_error"] = found.std_kappa
            expected["kappa_ci95"] = [found.kappa_low, found.kappa_upp]
        yield {"rater_1": first, "rater_2": second, "expected": expected}


def many_raters(dice):
    for n, raters, q, noise in [(dice.randint(4, 30), 3, 2, 0.4), (25, 5, 4, 0.6), (200, 7, 3, 0.2), (8, 3, 2, 0.0)]:
        truth = [dice.randrange(q) for _ in range(n)]
        rows = [[dice.randrange(q) if dice.random() < noise else label for _ in range(raters)] for label in truth]
        expected = {"fleiss_kappa": fleiss_kappa(aggregate_raters(np.array(rows))[0]), "gwet_ac1": gwet(rows)}
        yield {"ratings": rows, "expected": expected}


def gwet(rows):
    found = CAC(pd.DataFrame(rows), digits=14).gwet()["est"]
    expected = {"ac1": found["coefficient_value"], "se": found["se"], "pa": found["pa"], "pe": found["pe"]}
    # Where all items have the same value irrCAC puts 1e-15 for a standard error of 0.
    if found["se"] > 1e-12:
        expected |= {"ci95": list(found["confidence_interval"]), "p": found["p_value"], "z": found["z"]}
    return expected


def correlation(dice):
    noisy = lambda x, noise: [round(v + noise * dice.gauss(0, 1), 3) for v in x]
    wide = lambda n, digits: [round(dice.gauss(0, 1), digits) for _ in range(n)]
    line = wide(dice.randint(3, 60), 2)
    shuffled = lambda n: dice.sample(range(1, n + 1), n)
    swapped = list(range(1, 46))
    swapped[7:9] = [9, 8]
    pairs = [(x, noisy(x, s)) for x, s in [(wide(dice.randint(3, 33), 4), 1.0), (wide(33, 6), 0.3), (wide(34, 6), 0.5),
                                           (wide(60, 1), 2.0), (wide(500, 3), 0.2), (wide(12, 5), 0.001)]]
    pairs += [(line, [3 * v + 1 for v in line]), (swapped, list(range(1, 46))), (shuffled(20), shuffled(20)),
              ([dice.randint(0, 1) for _ in range(90)], wide(90, 2)), ([2, 2, 2], [1, 5, 3]), ([4, 1], [2, 8]),
              ([1, 2, 2, 3], [1, 1, 2, 2]), (wide(2305, 2), wide(2305, 1))]
    for x, y in pairs:
        x, y = list(map(float, x)), list(map(float, y))
        pearson, spearman, kendall = stats.pearsonr(x, y), stats.spearmanr(x, y), stats.kendalltau(x, y)
        tau = {"tau": kendall.statistic, "p": kendall.pvalue}
        if len(x) > 2:
            tau["p_asymptotic"] = stats.kendalltau(x, y, method="asymptotic").pvalue
        if len(set(x)) == len(x) and len(set(y)) == len(y) and len(x) <= 60:
            tau["p_exact"] = stats.kendalltau(x, y, method="exact").pvalue
        yield {"x": x, "y": y, "expected": {
            "pearson": {"r": pearson.statistic, "p": pearson.pvalue},
            "spearman": {"rho": spearman.statistic, "p": spearman.pvalue}, "kendall_tau_b": tau,
            "ranks_x": stats.rankdata(x), "ranks_y": stats.rankdata(y)}}


def proportion(dice):
    methods = {"wilson": "wilson", "clopper_pearson": "beta", "normal": "normal", "agresti_coull": "agresti_coull",
               "jeffreys": "jeffreys"}
    for n in [1, dice.randint(2, 30), dice.randint(30, 3000), 100_000]:
        for successes in {0, n, dice.randint(0, n)}:
            yield {"successes": successes, "trials": n, "expected": {
                f"{name}_{level}": proportion_confint(successes, n, alpha=(100 - level) / 100, method=method)
                for level in (95, 99) for name, method in methods.items()}}


def clusters_of(dice, books, largest):
    return [book for book in range(books) for _ in range(dice.randint(1, largest))]


def clustered_error(values, clusters):
    residuals = {}
    for value, cluster in zip(values, clusters):
        residuals.setdefault(cluster, []).append(value - np.mean(values))
    return math.sqrt(sum(sum(r) ** 2 for r in residuals.values())) / len(values)


def clustered_se(dice):
    for books, largest in [(dice.randint(2, 9), 6), (60, 40), (7, 1)]:
        clusters = clusters_of(dice, books, largest)
        values = [round(dice.random(), dice.choice([0, 3])) for _ in clusters]
        error = clustered_error(values, clusters)
        yield {"values": values, "clusters": clusters, "expected": {
            "mean": np.mean(values), "se_iid_n_minus_1": np.std(values, ddof=1) / math.sqrt(len(values)),
            "se_iid_n": np.std(values) / math.sqrt(len(values)), "se_clustered": error,
            "se_clustered_small_sample": error * math.sqrt(books / (books - 1)), "n": len(values), "clusters": books}}


def paired_clustered(dice):
    for books, largest in [(dice.randint(3, 9), 6), (80, 30)]:
        clusters = clusters_of(dice, books, largest)
        a, b = ([int(dice.random() < p) for _ in clusters] for p in (0.5, 0.65))
        difference = [y - x for x, y in zip(a, b)]
        mean, error = np.mean(difference), clustered_error(difference, clusters)
        z = mean / error
        half = stats.norm.isf(0.025) * error
        yield {"a": a, "b": b, "clusters": clusters, "expected": {
            "mean_difference_b_minus_a": mean, "se_clustered": error, "z": z,
            "p_two_sided_normal": 2 * stats.norm.sf(abs(z)), "ci95_normal": [mean - half, mean + half]}}


def mcnemar(dice):
    for only_a, only_b in [(dice.randint(0, 30), dice.randint(0, 30)), (dice.randint(100, 900), dice.randint(10, 400)), (0, 0), (0, 90)]:
        table = [[dice.randint(0, 99), only_a], [only_b, dice.randint(0, 99)]]
        run = lambda **how: mcnemar_test(table, **how)
        exact = run(exact=True)
        expected = {"exact": {"statistic_min_discordant": exact.statistic, "p": exact.pvalue}}
        if only_a + only_b:
            for name, correction in [("chi2", False), ("chi2_corrected", True)]:
                found = run(exact=False, correction=correction)
                expected[name] = {"statistic": found.statistic, "p": found.pvalue}
        yield {"table": table, "expected": expected}


def paired_permutation(dice):
    for n, digits in [(dice.randint(2, 9), 2), (14, 2), (12, 1), (10, 0)]:
        a = [round(dice.gauss(0, 1), digits) for _ in range(n)]
        b = [round(v + dice.gauss(0.5, 1), digits) for v in a]
        d = np.array(b) - np.array(a)
        if np.all(d == d[0]):
            continue
        # Whole units of the last digit, so that equal sums are equal.
        units = np.round(d * 10**digits).astype(int)
        sums = np.array(list(itertools.product([1, -1], repeat=n))) @ units
        less, greater = np.mean(sums <= units.sum()), np.mean(sums >= units.sum())
        sizes = np.abs(d)
        exact = len(set(sizes)) == n and np.all(d != 0)
        wilcoxon = stats.wilcoxon(b, a, method="exact" if exact else "approx")
        t = stats.ttest_rel(b, a)
        yield {"a": a, "b": b, "expected": {
            "mean_difference_b_minus_a": np.mean(d), "p_two_sided": min(1, 2 * min(less, greater)), "p_greater": greater,
            "p_two_sided_by_absolute_value": np.mean(np.abs(sums) >= abs(units.sum())), "resamples": 2**n,
            "wilcoxon": {"statistic": wilcoxon.statistic, "p": wilcoxon.pvalue},
            "paired_t": {"t": t.statistic, "p": t.pvalue}}}


def exhaustive_bootstrap(dice):
    for n, digits in [(1, 1), (dice.randint(2, 5), 2), (dice.randint(3, 6), 0)]:
        values = [round(dice.random(), digits) for _ in range(n)]
        means = np.mean(list(itertools.product(values, repeat=n)), axis=1)
        at = lambda level, method: np.percentile(means, [50 - level / 2, 50 + level / 2], method=method)
        yield {"values": values, "expected": {
            "n_all_resamples": len(means), "bootstrap_distribution_mean": np.mean(means),
            "bootstrap_distribution_sd": np.std(means), "percentile_95_linear": at(95, "linear"),
            "percentile_95_inverted_cdf": at(95, "inverted_cdf"), "percentile_90_inverted_cdf": at(90, "inverted_cdf")}}


def percentiles(dice):
    p = [2.5, 5, 25, 50, 75, 95, 97.5]
    for n in [1, 2, dice.randint(3, 39), 40, 1000]:
        values = [round(dice.gauss(0, 9), 1) for _ in range(n)]
        yield {"values": values, "expected": {
            "p": p, "linear": np.percentile(values, p), "inverted_cdf": np.percentile(values, p, method="inverted_cdf"),
            "mean": np.mean(values), "sd_n_minus_1": np.std(values, ddof=1) if n > 1 else math.nan, "sd_n": np.std(values)}}


def multiple_comparison(dice):
    for n, power in [(1, 1), (dice.randint(2, 9), 3), (60, 8)]:
        p = [dice.random() ** power for _ in range(n)]
        p[-1] = p[0]
        adjusted = lambda method: multipletests(p, method=method)[1]
        yield {"p": p, "expected": {"holm": adjusted("holm"), "bonferroni": adjusted("bonferroni"),
                                    "benjamini_hochberg": adjusted("fdr_bh")}}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--many", type=int, default=1)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("directory", type=Path)
    arguments = arguments.parse_args()
    content = statistics(arguments.seed, arguments.many)
    path = arguments.directory / "statistics.json"
    path.write_text(json.dumps(content, ensure_ascii=False) + "\n", encoding="utf-8")
    print({name: len(cases) for name, cases in content.items() if isinstance(cases, list)})


if __name__ == "__main__":
    main()
