"""Small controllers that run a Deployment: each LISTs, WATCHes, and writes what upstream's would."""
