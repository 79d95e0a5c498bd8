"""What the dashboard, the commands and the audit share: state, ranking, prediction, tables. No Textual."""
