"""A reading of a profile without any model: what matters, what shows it, what to do next.

    a service or a file -> facts.py -> Facts -> reading.py -> Reading -> report.py -> text, Markdown, JUnit, JSON
                                            \\-> budgets.py -> [Verdict] /
"""
