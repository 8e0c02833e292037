"""Who lives in the demonstration city: shares by district, made up for it; no census was used.

Age, sex, ethnicity and household income follow the district; marital status and education follow the age group, more
or less strongly by district; the diagnosis follows the age group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..arrays import to_list
from .distributions import Distributions, PerCent, distributions_of_table, sampler_of_shares
from .generator import Dependent

DISTRICTS = ("centre", "inner suburb", "north end", "outer suburb", "rural", "university")

# By attribute and category: per cent in each district, in the order of DISTRICTS.
BY_DISTRICT: PerCent = {
    "age_group": {
        "0 to 14": (8.0, 16.0, 24.0, 21.0, 18.0, 9.0),
        "15 to 24": (17.0, 12.0, 15.0, 12.0, 12.0, 34.0),
        "25 to 44": (42.0, 28.0, 28.0, 30.0, 22.0, 29.0),
        "45 to 64": (20.0, 26.0, 21.0, 25.0, 30.0, 16.0),
        "65 to 79": (10.0, 13.0, 9.0, 9.5, 14.0, 9.0),
        "80 and over": (3.0, 5.0, 3.0, 2.5, 4.0, 3.0),
    },
    "sex": {
        "female": (47.8, 51.4, 50.9, 50.4, 48.9, 52.3),
        "male": (52.2, 48.6, 49.1, 49.6, 51.1, 47.7),
    },
    "ethnicity": {
        "European": (46.0, 67.0, 38.0, 62.0, 88.0, 52.0),
        "Indigenous": (17.0, 9.0, 33.0, 5.0, 8.0, 5.0),
        "South Asian": (9.0, 6.0, 5.0, 14.0, 1.0, 12.0),
        "East Asian": (14.0, 9.0, 13.0, 9.0, 1.0, 17.0),
        "Black": (7.0, 4.0, 6.0, 5.0, 0.7, 7.0),
        "other": (7.0, 5.0, 5.0, 5.0, 1.3, 7.0),
    },
    "household_income": {
        "lowest fifth": (34.0, 18.0, 36.0, 9.0, 15.0, 30.0),
        "second fifth": (24.0, 21.0, 27.0, 14.0, 19.0, 22.0),
        "middle fifth": (18.0, 22.0, 19.0, 21.0, 23.0, 19.0),
        "fourth fifth": (13.0, 21.0, 12.0, 27.0, 23.0, 16.0),
        "highest fifth": (11.0, 18.0, 6.0, 29.0, 20.0, 13.0),
    },
}

# By category: per cent in each age group of BY_DISTRICT.
MARITAL_STATUS = {
    "never married": (100.0, 91.0, 34.0, 12.0, 6.0, 5.0),
    "married": (0.0, 2.5, 45.0, 61.0, 62.0, 38.0),
    "common law": (0.0, 6.3, 16.0, 11.0, 5.0, 1.5),
    "separated or divorced": (0.0, 0.2, 4.7, 13.5, 13.0, 6.5),
    "widowed": (0.0, 0.0, 0.3, 2.5, 14.0, 49.0),
}
EDUCATION = {
    "no certificate": (100.0, 34.0, 9.0, 14.0, 27.0, 42.0),
    "secondary school": (0.0, 41.0, 24.0, 28.0, 28.0, 27.0),
    "trade": (0.0, 3.0, 9.0, 12.0, 13.0, 10.0),
    "college": (0.0, 11.0, 24.0, 24.0, 16.0, 11.0),
    "university": (0.0, 11.0, 34.0, 22.0, 16.0, 10.0),
}
DIAGNOSIS = {
    "none": (88.0, 79.0, 74.0, 58.0, 40.0, 30.0),
    "asthma": (9.5, 8.0, 6.5, 5.5, 5.0, 4.5),
    "depression": (1.5, 11.0, 12.0, 9.5, 6.0, 6.0),
    "diabetes": (0.5, 1.0, 3.5, 12.0, 19.0, 18.0),
    "heart disease": (0.2, 0.4, 1.8, 8.5, 19.0, 28.0),
    "cancer": (0.2, 0.3, 1.2, 5.5, 10.5, 13.0),
    "hepatitis C": (0.1, 0.3, 1.0, 1.0, 0.5, 0.5),
}

# How much more often than elsewhere a category occurs in each district, at every age.
MARITAL_FACTORS = {
    "never married": (1.8, 1.0, 1.4, 0.8, 0.8, 1.6),
    "married": (0.55, 1.0, 0.6, 1.2, 1.2, 0.8),
    "common law": (1.4, 1.1, 1.3, 0.9, 0.9, 1.1),
    "separated or divorced": (1.3, 1.1, 1.3, 0.8, 0.8, 0.9),
    "widowed": (1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
}
EDUCATION_FACTORS = {
    "no certificate": (0.9, 0.9, 1.8, 0.7, 1.2, 0.4),
    "secondary school": (1.0, 1.0, 1.1, 0.9, 1.1, 0.8),
    "trade": (0.7, 1.0, 1.0, 1.0, 1.6, 0.4),
    "college": (0.9, 1.1, 0.8, 1.1, 1.0, 0.8),
    "university": (1.4, 1.0, 0.4, 1.2, 0.5, 2.4),
}
NO_FACTORS = dict.fromkeys(DIAGNOSIS, (1.0,) * len(DISTRICTS))


def city_distributions() -> Distributions:
    """The attributes that follow the district alone."""
    return distributions_of_table(DISTRICTS, BY_DISTRICT)


def city_dependents() -> tuple[Dependent, ...]:
    """The fields that follow the age group; the diagnosis is not a quasi-identifier."""
    return (
        _given_age("marital_status", MARITAL_STATUS, MARITAL_FACTORS),
        _given_age("education", EDUCATION, EDUCATION_FACTORS),
        _given_age("diagnosis", DIAGNOSIS, NO_FACTORS, kept=True),
    )


def _given_age(
    name: str, by_age: Mapping[str, Sequence[float]], factors: Mapping[str, Sequence[float]], kept: bool = False
) -> Dependent:
    """Shares of each category by district and age group, rows in that order."""
    categories = np.array(sorted(by_age), dtype=object)
    age_shares = np.array([by_age[category] for category in to_list(categories)]).T
    district_factors = np.array([factors[category] for category in to_list(categories)]).T
    shares = district_factors[:, None, :] * age_shares
    shares = shares.reshape(-1, len(categories))
    sampler = sampler_of_shares(name, categories, shares / shares.sum(axis=1, keepdims=True))
    return Dependent("age_group", sampler, kept)
