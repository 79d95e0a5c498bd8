"""What an etcd shows without requests: what is stored, what changes, and what LISTs of it would cost."""
