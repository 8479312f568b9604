"""Rules of topics and consumer groups that the control plane and broker agents both apply.

Plain functions over plain values: no library, no input or output, nothing else of ours.
"""
