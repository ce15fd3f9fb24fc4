"""Reads numbers of CSV to the last bit, which not all versions of pandas do unless told so."""

import csv

import pandas as pd


def csv_table(path):
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return pd.DataFrame(rows, columns=header).astype(float)
