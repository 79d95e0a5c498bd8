"""Label and field selectors: kube-apiserver's grammar, error texts and matching."""

from ktui.kube.selectors.fields import FieldSelector, FieldTerm
from ktui.kube.selectors.labels import LabelSelector
from ktui.kube.selectors.requirements import Operator, Requirement
from ktui.kube.selectors.shards import ShardSelector

__all__ = ["FieldSelector", "FieldTerm", "LabelSelector", "Operator", "Requirement", "ShardSelector"]
