{{- /* What the pods of the managers, LiveKit, Redis and the test have in common. */}}

{{- /* What the pods of the managers have, and all others that run the same image: a quota, a policy or a pool of nodes that takes the managers takes them too. */}}
{{- define "convene.managerPod" -}}
enableServiceLinks: false
{{- include "convene.imagePullSecrets" (list . list) | nindent 0 }}
{{- with include "convene.priorityClassName" . }}
priorityClassName: {{ . | quote }}
{{- end }}
securityContext:
  {{- include "convene.securityContext" (list . .Values.podSecurityContext) | nindent 2 }}
{{- include "convene.given" (list .Values "nodeSelector" "tolerations" "affinity" "dnsPolicy" "dnsConfig" "hostAliases" "runtimeClassName") | nindent 0 }}
{{- end }}

{{- /* GOMEMLIMIT as a list of EnvVar, of values with goMemoryLimit and resources: what is given, or nine tenths of the memory limit. */}}
{{- define "convene.goMemoryLimit" -}}
{{- $limit := .goMemoryLimit }}
{{- with ((.resources | default dict).limits | default dict).memory }}
{{- $unit := regexFind "[A-Za-z]*$" (toString .) }}
{{- $bytes := dict "" 1 "m" 0.001 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 }}
{{- if and (not $limit) (hasKey $bytes $unit) }}
{{- with divf (mulf (trimSuffix $unit (toString .)) (get $bytes $unit) 0.9) 1048576 | int64 }}
{{- $limit = printf "%dMiB" . }}
{{- end }}
{{- end }}
{{- end }}
{{- with $limit }}
- name: GOMEMLIMIT
  value: {{ . | quote }}
{{- end }}
{{- end }}

{{- /* The egress to DNS of a NetworkPolicy. */}}
{{- define "convene.dnsEgress" -}}
- ports:
    {{- range .Values.networkPolicy.dnsPorts }}
    - port: {{ . }}
      protocol: UDP
    - port: {{ . }}
      protocol: TCP
    {{- end }}
{{- end }}

{{- /* Fields that values give as they are: (list FROM NAME…). Those that are empty are left out. */}}
{{- define "convene.given" -}}
{{- $from := first . }}
{{- $given := dict }}
{{- range $name := rest . }}
{{- with get $from $name }}
{{- $_ := set $given $name . }}
{{- end }}
{{- end }}
{{- with $given }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{- /* Names of pull secrets, given as strings or as objects: (list ROOT LIST). */}}
{{- define "convene.imagePullSecrets" -}}
{{- $root := first . }}
{{- $names := list }}
{{- range concat (($root.Values.global | default dict).imagePullSecrets | default list) ($root.Values.imagePullSecrets | default list) (last . | default list) }}
{{- if kindIs "map" . }}
{{- $names = append $names .name }}
{{- else }}
{{- $names = append $names . }}
{{- end }}
{{- end }}
{{- with $names | uniq -}}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end }}
{{- end }}

{{- /* A security context of a pod or a container: (list ROOT CONTEXT). OpenShift's restricted-v2 chooses users and groups itself. */}}
{{- define "convene.securityContext" -}}
{{- $context := last . }}
{{- if (first .).Values.openshift }}
{{- $context = omit $context "runAsUser" "runAsGroup" "fsGroup" "supplementalGroups" }}
{{- end }}
{{- toYaml $context }}
{{- end }}

{{- /* topologySpreadConstraints with the selector of a component: (list ROOT COMPONENT CONSTRAINTS). */}}
{{- define "convene.spread" -}}
{{- $root := first . }}
{{- $component := index . 1 }}
{{- with last . -}}
topologySpreadConstraints:
  {{- range . }}
  - {{- toYaml . | nindent 4 }}
    {{- if not .labelSelector }}
    labelSelector:
      matchLabels:
        {{- include "convene.selectorLabels" (list $root $component) | nindent 8 }}
    {{- end }}
  {{- end }}
{{- end }}
{{- end }}

{{- /* Not empty where something in the cluster scales a Deployment: (list SCALING NUMBER). The number is empty then, or scaling is enabled. */}}
{{- define "convene.scaled" -}}
{{- if or (first .).enabled (kindIs "string" (last .)) (kindIs "invalid" (last .)) }}true{{- end }}
{{- end }}

{{- /* The annotation convene.dev/replicas of a Deployment: (list SCALING NUMBER NAMESPACE NAME). Empty where the number is the chart's. "scaled"
says that no manifest has had spec.replicas; "kept" that an earlier one had, so that all later ones have to: left out, Kubernetes sets 1. */}}
{{- define "convene.scaling" -}}
{{- if include "convene.scaled" (slice . 0 2) }}
{{- $live := lookup "apps/v1" "Deployment" (index . 2) (index . 3) }}
{{- $before := dig "metadata" "annotations" "convene.dev/replicas" "kept" $live }}
{{- $live | empty | ternary "scaled" $before }}
{{- end }}
{{- end }}

{{- /* spec.replicas of a Deployment: (list SCALING NUMBER NAMESPACE NAME VALUE), with the name of the number's value. */}}
{{- define "convene.replicas" -}}
{{- $number := index . 1 }}
{{- $live := lookup "apps/v1" "Deployment" (index . 2) (index . 3) }}
{{- $scaling := include "convene.scaling" (slice . 0 4) }}
{{- if eq $scaling "kept" }}
replicas: {{ $live.spec.replicas }}
{{- else if not $scaling }}
{{- if and (int $number) $live (dig "metadata" "annotations" "convene.dev/replicas" "" $live) (gt (int $live.spec.replicas) (int $number)) }}
{{- fail (printf "%[1]s is no longer scaled, and %[2]d run: %[3]s=%[4]d would stop the others at once. Set %[3]s=%[2]d for this upgrade, and lower it step by step afterwards" (index . 3) (int $live.spec.replicas) (index . 4) (int $number)) }}
{{- end }}
replicas: {{ int $number }}
{{- end }}
{{- end }}

{{- /* Annotations of a Deployment that can be scaled: (list ROOT ANNOTATIONS SCALING NUMBER NAMESPACE NAME). */}}
{{- define "convene.scaledAnnotations" -}}
{{- $mark := dict }}
{{- with include "convene.scaling" (slice . 2) }}
{{- $mark = dict "convene.dev/replicas" . }}
{{- end }}
{{- include "convene.annotations" (list (first .) (index . 1) $mark) }}
{{- end }}

{{- /* Scaling by load in place of a number of replicas: (list ROOT SCALING NAMESPACE NAME COMPONENT). */}}
{{- define "convene.autoscaler" -}}
{{- $root := first . }}
{{- $scaling := index . 1 }}
{{- $namespace := index . 2 }}
{{- $name := index . 3 }}
{{- if not (or $scaling.targetCPUUtilizationPercentage $scaling.targetMemoryUtilizationPercentage $scaling.metrics) }}
{{- fail "autoscaling needs targetCPUUtilizationPercentage, targetMemoryUtilizationPercentage or metrics: without any, Kubernetes scales at 80 % of the CPU" }}
{{- end }}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ $name | quote }}
  namespace: {{ $namespace | quote }}
  labels:
    {{- include "convene.labels" (list $root (last .)) | nindent 4 }}
  {{- include "convene.annotations" (list $root) }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ $name | quote }}
  minReplicas: {{ $scaling.minReplicas }}
  maxReplicas: {{ $scaling.maxReplicas }}
  metrics:
    {{- range $resource, $target := dict "cpu" $scaling.targetCPUUtilizationPercentage "memory" $scaling.targetMemoryUtilizationPercentage }}
    {{- if $target }}
    - type: Resource
      resource:
        name: {{ $resource }}
        target:
          type: Utilization
          averageUtilization: {{ $target }}
    {{- end }}
    {{- end }}
    {{- with $scaling.metrics }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $scaling.behavior }}
  behavior:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
