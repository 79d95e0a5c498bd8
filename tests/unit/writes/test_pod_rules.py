# ruff: noqa: E501
"""Rules of pod specs, each with what a kube-apiserver 1.36 answered to a Deployment with this template."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.writes.defaults import set_defaults
from ktui.writes.validation.objects import value_errors

Spec = dict[str, Any]
C: Spec = {"name": "c", "image": "i"}


def c(**members: Any) -> Spec:
    return {"containers": [{**C, **members}]}


def init(**members: Any) -> Spec:
    return {"containers": [C], "initContainers": [{"name": "i", "image": "i", **members}]}


def p(**members: Any) -> Spec:
    return {"containers": [C], **members}


def volume(**source: Any) -> Spec:
    return p(volumes=[{"name": "v", **source}])


def windows(**options: Any) -> Spec:
    return {"windowsOptions": options}


@pytest.mark.parametrize(
    ("spec", "errors"),
    [
        (c(resizePolicy=[{"resourceName": "gpu", "restartPolicy": "Never"}, {"resourceName": "gpu"}]),
         ['containers[0].resizePolicy: Unsupported value: "gpu": supported values: "cpu", "memory"', 'containers[0].resizePolicy: Unsupported value: "Never": supported values: "NotRequired", "RestartContainer"', 'containers[0].resizePolicy[1]: Duplicate value: "gpu"', 'containers[0].resizePolicy: Unsupported value: "gpu": supported values: "cpu", "memory"', 'containers[0].resizePolicy: Required value']),
        (p(restartPolicy="Never", containers=[{**C, "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]}]),
         ['containers[0].resizePolicy: Invalid value: "RestartContainer": must be \'NotRequired\' when pod `restartPolicy` is \'Never\'']),
        (init(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]),
         ['initContainers[0].resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": must not be set to \'RestartContainer\' for non-sidecar initContainers']),
        (c(restartPolicyRules=[{}]),
         ['containers[0].restartPolicy: Required value: must specify restartPolicy when restart rules are used', 'containers[0].restartPolicyRules[0].action: Unsupported value: "": supported values: "Restart", "RestartAllContainers"', 'containers[0].restartPolicyRules[0].exitCodes: Required value: must be specified']),
        (init(restartPolicyRules=[{}]),
         ['initContainers[0].restartPolicy: Required value: must specify restartPolicy when restart rules are used']),
        (c(restartPolicy="Sometimes", restartPolicyRules=[{"action": "Stop", "exitCodes": {"operator": "Is", "values": [1]}}]),
         ['containers[0].restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"', 'containers[0].restartPolicyRules[0].action: Unsupported value: "Stop": supported values: "Restart", "RestartAllContainers"', 'containers[0].restartPolicyRules[0].exitCodes.operator: Unsupported value: "Is": supported values: "In", "NotIn"']),
        (c(restartPolicy="Never", restartPolicyRules=[{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}]),
         []),
        (c(securityContext=windows(gmsaCredentialSpecName="A", gmsaCredentialSpec="", runAsUserName="")),
         ['containers[0].securityContext.windowsOptions.gmsaCredentialSpecName: Invalid value: "A"', 'containers[0].securityContext.windowsOptions.gmsaCredentialSpec: Invalid value: "": gmsaCredentialSpec cannot be an empty string', 'containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "": runAsUserName cannot be an empty string']),
        (c(securityContext=windows(runAsUserName="a|b\\..")),
         ['containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "a|b\\\\..": runAsUserName\'s Domain doesn\'t match the NetBios nor the DNS format', 'containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "a|b\\\\..": runAsUserName\'s User cannot contain only periods or spaces']),
        (c(securityContext=windows(runAsUserName="a\\b\\c")),
         ['containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "a\\\\b\\\\c": runAsUserName cannot contain more than one backslash']),
        (p(securityContext=windows(runAsUserName="*")),
         ['securityContext.windowsOptions.runAsUserName: Invalid value: "*": runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]']),
        (c(securityContext={"procMount": "Unmasked"}),
         ['containers[0].securityContext.procMount: Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`']),
        (c(securityContext={"seccompProfile": {"type": "Any", "localhostProfile": "a"}}),
         ['containers[0].securityContext.seccompProfile.type: Unsupported value: "Any": supported values: "Localhost", "RuntimeDefault", "Unconfined"', 'containers[0].securityContext.seccompProfile.localhostProfile: Invalid value: {"Type":"Any","LocalhostProfile":"a"}: can only be set when seccomp type is Localhost']),
        (c(securityContext={"appArmorProfile": {"type": "Localhost", "localhostProfile": " a"}}),
         ['containers[0].securityContext.appArmorProfile.localhostProfile: Invalid value: " a": must not be padded with whitespace']),
        (p(securityContext={"appArmorProfile": {"type": "Unconfined", "localhostProfile": "a"}}),
         ['securityContext.appArmorProfile.localhostProfile: Invalid value: "a": can only be set when AppArmor type is Localhost']),
        (c(securityContext=windows(hostProcess=True)),
         ['hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers']),
        (p(securityContext=windows(hostProcess=True), hostNetwork=True, initContainers=[{"name": "i", "image": "i", "securityContext": windows(hostProcess=False)}]),
         ['initContainers[0].securityContext.windowsOptions.hostProcess: Invalid value: false: pod hostProcess value must be identical if both are specified, was true', 'spec.template.spec: Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess containers']),
        (p(hostUsers=False, hostIPC=True, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "x"}}], containers=[{**C, "volumeDevices": [{"name": "v", "devicePath": "/d"}]}]),
         ['HostIPC: Forbidden: when `hostUsers` is false', 'containers[0].volumeDevices: Forbidden: when `hostUsers` is false']),
        (p(hostnameOverride="A", setHostnameAsFQDN=True, hostNetwork=True),
         ['hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true', 'hostnameOverride: Forbidden: may not be specified when hostNetwork is true', 'hostnameOverride: Invalid value: "A"']),
        (p(hostnameOverride="a" * 65), ['hostnameOverride: Too long: may not be more than 64 bytes']),
        (p(hostIPC=True, securityContext={"sysctls": [{"name": "kernel/sem", "value": "1"}, {"name": "net.a", "value": "1"}]}),
         ['securityContext.sysctls[0].name: Invalid value: "kernel/sem": may not be specified when \'hostIPC\' is true']),
        (p(resources={"claims": [], "limits": {"gpu": "1", "cpu": "1"}, "requests": {"cpu": "2"}}),
         ['resources.claims: Forbidden: claims may not be set for Resources at pod-level', 'resources.limits[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified', 'resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1']),
        (p(resources={"limits": {"cpu": "1"}}, containers=[{**C, "resources": {"limits": {"cpu": "2"}}}]),
         ['resources.containers[0][cpu].limits: Invalid value: "2": must be less than or equal to pod limits of 1']),
        (p(os={"name": "windows"}, resources={}), ['resources: Forbidden: may not be set for a windows pod']),
        (c(resources={"limits": {"hugepages-2Mi": "3Mi", "cpu": "1"}}),
         ['containers[0].resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi']),
        (c(resources={"limits": {"cpu": "1"}, "requests": {"hugepages-2Mi": "2Mi"}}),
         ['containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources']),
        (c(resources={"limits": {"requests.a/b": "1"}}),
         ['containers[0].resources.limits[requests.a/b]: Invalid value: "requests.a/b": doesn\'t follow extended resource name standard']),
        (c(resources={"limits": {"pods": "1"}}),
         ['containers[0].resources.limits[pods]: Invalid value: "pods": must be a standard resource for containers']),
        (c(resources={"claims": [{"name": "a"}, {"name": "a", "request": "r"}]}),
         ['containers[0].resources.claims[0]: Not found: "a": must be one of the names in pod.spec.resourceClaims which is empty', 'containers[0].resources.claims[1]: Duplicate value: "a"', 'containers[0].resources.claims[1]: Not found: "a": must be one of the names in pod.spec.resourceClaims which is empty']),
        (p(resourceClaims=[{"name": "a", "resourceClaimName": "x"}], containers=[{**C, "resources": {"claims": [{"name": "a", "request": "R"}, {"name": "a", "request": "s"}, {"name": "a"}]}}]),
         ['containers[0].resources.claims[0].request: Invalid value: "R"', 'containers[0].resources.claims[2]: Duplicate value: "a"', 'containers[0].resources.claims[2]: Duplicate value: "a"']),
        (c(env=[{"name": "A", "valueFrom": {"fileKeyRef": {"key": "a=b", "volumeName": "v", "path": "../x"}}}]),
         ['containers[0].env[0].valueFrom.fileKeyRef.key: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than \'=\'', 'containers[0].env[0].valueFrom.fileKeyRef.path: Invalid value: "../x": must not contain \'..\'', 'containers[0].env[0].valueFrom.fileKeyRef.volumeName: Not found: "v"']),
        (p(volumes=[{"name": "v", "hostPath": {"path": "/x"}}], containers=[{**C, "env": [{"name": "A", "valueFrom": {"fileKeyRef": {"key": "k", "volumeName": "v", "path": "x"}}}]}]),
         ['containers[0].env[0].valueFrom.fileKeyRef.volumeName: Invalid value: "v": referenced volume must be of type emptyDir']),
        (c(envFrom=[{"secretRef": {"name": "S"}}]),
         ['containers[0].envFrom[0].secretRef.name: Invalid value: "S"']),
        (c(lifecycle={"preStop": {"sleep": {"seconds": 31}, "exec": {"command": ["a"]}}}),
         ['containers[0].lifecycle.preStop.sleep: Forbidden: may not specify more than 1 handler type']),
        (p(runtimeClassName="Kata!"), ['runtimeClassName: Invalid value: "Kata!"']),
        (volume(flocker={}),
         ['volumes[0].flocker: Required value: one of datasetName and datasetUUID is required']),
        (volume(quobyte={"registry": "a,b:1", "volume": "v"}),
         ['volumes[0].quobyte.registry: Invalid value: "a,b:1": must be a host:port pair or multiple pairs separated by commas']),
        (volume(fc={"targetWWNs": ["a"], "wwids": ["b"]}),
         ['volumes[0].fc.targetWWNs: Invalid value: ["a"]: targetWWNs and wwids can not be specified simultaneously', 'volumes[0].fc.lun: Required value: lun is required if targetWWNs is specified']),
        (volume(azureDisk={"diskName": "d", "diskURI": "x", "kind": "Managed"}),
         ['volumes[0].azureDisk.diskURI: Unsupported value: "x": supported values: "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"']),
        (volume(storageos={"volumeName": "A", "secretRef": {}}),
         ['volumes[0].storageos.volumeName: Invalid value: "A"', 'volumes[0].storageos.secretRef.name: Required value']),
        (volume(gcePersistentDisk={"pdName": "d", "partition": 256}),
         ['volumes[0].persistentDisk.partition: Invalid value: 256: must be between 1 and 255, inclusive']),
        (volume(gitRepo={"repository": "r", "directory": "/a"}),
         ['volumes[0].gitRepo.directory: Invalid value: "/a": must be a relative path']),
        (volume(flexVolume={"driver": "d", "options": {"kubernetes.io/a": "b"}}),
         ['volumes[0].flexVolume.options[kubernetes.io/a]: Invalid value: "kubernetes.io/a": kubernetes.io and k8s.io namespaces are reserved']),
        (volume(iscsi={"targetPortal": "t", "iqn": "iqn.2026-01.a:b", "initiatorName": "x"}),
         ['volumes[0].iscsi.initiatorname: Invalid value: "x": must be valid format starting with iqn, eui, or naa']),
        (volume(scaleIO={"gateway": "g"}),
         ['volumes[0].scaleIO.system: Required value', 'volumes[0].scaleIO.volumeName: Required value']),
        (p(affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "k", "labelSelector": {"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "a", "operator": "Exists"}]}, "matchLabelKeys": ["a"]}]}}),
         ['affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0][0]: Invalid value: "a": exists in both matchLabelKeys and labelSelector']),
    ],
)  # fmt: skip
def test_a_template_is_refused_as_upstream_refuses_it(spec: Spec, errors: list[str]) -> None:
    """The texts are the beginnings of upstream's, in its order; a path is that in the spec."""
    labels = {"a": "b"}
    template = {"metadata": {"labels": labels}, "spec": spec}
    obj: Spec = {
        "kind": "Deployment",
        "metadata": {},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }
    set_defaults(obj)
    texts = [
        str(error).removeprefix("spec.template.spec.") for error in value_errors("deployments.apps", obj)
    ]
    found = [text for text in texts if not text.startswith("restartPolicy")]
    assert [text[: len(wanted)] for text, wanted in zip(found, errors, strict=True)] == errors
