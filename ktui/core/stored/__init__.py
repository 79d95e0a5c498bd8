"""What etcd alone shows, without requests: stored objects, and what LISTs of them would cost."""
