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

{{- /* The number of replicas of a Deployment that is scaled by load: (list NAMESPACE NAME). Empty means that it is not rendered, so that
nobody writes over the autoscaler's. Where it was rendered before, it is rendered as it is: left out, Kubernetes would set 1. */}}
{{- define "convene.keptReplicas" -}}
{{- $autoscaler := lookup "autoscaling/v2" "HorizontalPodAutoscaler" (first .) (last .) }}
{{- if or (not $autoscaler) (dig "metadata" "annotations" "convene.dev/keeps-replicas" "" $autoscaler) }}
{{- dig "spec" "replicas" "" (lookup "apps/v1" "Deployment" (first .) (last .)) }}
{{- end }}
{{- end }}

{{- /* spec.replicas of a Deployment: (list SCALING NUMBER NAMESPACE NAME). */}}
{{- define "convene.replicas" -}}
{{- if not (first .).enabled }}
replicas: {{ index . 1 }}
{{- else }}
{{- with include "convene.keptReplicas" (slice . 2) }}
replicas: {{ . }}
{{- end }}
{{- end }}
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
{{- $mark := dict }}
{{- if include "convene.keptReplicas" (list $namespace $name) }}
{{- $mark = dict "convene.dev/keeps-replicas" "true" }}
{{- end }}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ $name | quote }}
  namespace: {{ $namespace | quote }}
  labels:
    {{- include "convene.labels" (list $root (last .)) | nindent 4 }}
  {{- include "convene.annotations" (list $root $mark) }}
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
