{{- /* Name and labels of a monitor: (list ROOT MONITOR NAME NAMESPACE). It may stand where Prometheus looks for it. */}}
{{- define "convene.monitor.metadata" -}}
{{- $root := first . }}
{{- $monitor := index . 1 }}
{{- $namespace := $monitor.namespace | default (last .) }}
  name: {{ eq $namespace (last .) | ternary (index . 2) (printf "%s.%s" (last .) (index . 2)) | quote }}
  namespace: {{ $namespace | quote }}
  labels:
    {{- include "convene.labels" (list $root "" $monitor.labels) | nindent 4 }}
{{- include "convene.annotations" (list $root) }}
{{- end }}

{{- /* How a monitor reads metrics. */}}
{{- define "convene.monitor.endpoint" -}}
port: metrics
path: /metrics
{{ include "convene.given" (list . "interval" "scrapeTimeout" "relabelings" "metricRelabelings") }}
{{- end }}

{{- /* Who may read metrics (a list of NetworkPolicyPeer): by default namespaces with the label that Kubebuilder's projects use. */}}
{{- define "convene.metricsFrom" -}}
{{- toYaml (.Values.networkPolicy.metricsFrom | default (list (dict "namespaceSelector" (dict "matchLabels" (dict "metrics" "enabled"))))) }}
{{- end }}
