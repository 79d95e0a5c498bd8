"""Logs of apiservers and etcds: who asks for what, what it costs, what to write instead."""
