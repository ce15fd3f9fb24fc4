"""How `make docs` builds the site from these pages, the docstrings and the examples."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "pkex"
author = "pkex contributors"
version = release = installed_version("pkex")
project_copyright = author

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    # Of this project, in docs/_extensions.
    "descriptions",
    "examples",
    "formulas",
    "forge_links",
    "long_names",
    "reference",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates"]
smartquotes = False  # "marginal" is to be written as it is
nitpicky = True

# --- pages in Markdown ---

myst_heading_anchors = 4  # as on a forge: page.md#the-heading
myst_links_external_new_tab = False

# --- the API reference ---

default_role = "py:obj"  # a link for `pkex.mmd`, not for the parameter `X`
autosummary_generate = True
# Of a class that has methods for the engine, those for users; of an estimator, not scikit-learn's.
autosummary_context = {
    "members_for_users": {
        "DeconditionalRegressor": "fit, predict, predict_mean, score",
        "HSICSelector": "fit",
        "InterventionalRegressor": "fit, predict",
        "KernelExpansion": "points, coefficients, kernel, intercept, predict",
        "PreferenceLogistic": "fit, decision_function, predict, predict_proba, score, "
        "explain_items, explain_context",
        "PreferenceRidge": "fit, predict, score, explain_items, explain_context",
        "RWReLU": "fit, predict",
        "RWSign": "fit, predict",
        "RWStumps": "fit, predict",
        "ShapleyProcess": "fit, predict",
        "ShapleyRegularizedClassifier": "fit, decision_function, predict, predict_proba",
        "ShapleyRegularizedRidge": "fit, predict",
    }
}
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints = "none"  # the types stand beside the parameters, in words
python_maximum_signature_line_length = 80  # else one line for each parameter
numpydoc_show_class_members = False  # the template of classes shows them
numpydoc_xref_param_type = False
toc_object_entries_show_parents = "hide"

# --- what it looks like: nothing is loaded from the net ---

html_theme = "furo"
html_title = f"pkex {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"font-stack--headings": "inherit"},
    "navigation_with_keys": True,
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
copybutton_exclude = ".linenos, .gp, .go"
