{{- define "convene.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "convene.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else if contains (include "convene.name" .) .Release.Name }}
{{- .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "convene.name" .) | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "convene.serviceAccountName" -}}
{{- if not (or .Values.serviceAccount.create .Values.serviceAccount.name) }}
{{- fail "serviceAccount.create=false needs serviceAccount.name: the name of a service account that exists" }}
{{- end }}
{{- .Values.serviceAccount.name | default (include "convene.fullname" .) }}
{{- end }}

{{- define "convene.selectorLabels" -}}
app.kubernetes.io/name: {{ include "convene.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "convene.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "convene.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: convene
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* Nothing that changes with the chart's version: a new chart must not cut the engine's calls. */}}
{{- define "convene.podLabels" -}}
{{ include "convene.selectorLabels" . }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* Annotations of an object: (list ROOT ANNOTATIONS…), beside those of all objects; later ones win. */}}
{{- define "convene.annotations" -}}
{{- $all := deepCopy (first .).Values.commonAnnotations }}
{{- range rest . }}
{{- $all = mergeOverwrite $all (. | default dict) }}
{{- end }}
{{- with $all }}
  annotations:
    {{- toYaml . | nindent 4 }}
{{- end }}
{{- end }}

{{- define "convene.image" -}}
{{- include "convene.imageOf" (merge dict .Values.image (dict "tag" .Chart.AppVersion)) }}
{{- end }}

{{- /* An image of values, by its digest where that is set. */}}
{{- define "convene.imageOf" -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag }}{{ end }}
{{- end }}

{{- /* The Lease of the managers that serve a namespace, or all of them, as kube.LeaseName has it. */}}
{{- define "convene.lease" -}}
{{ with .Values.watchNamespace }}{{ . }}.{{ end }}controllers.convene.dev
{{- end }}

{{- define "convene.priorityClassName" -}}
{{- if .Values.priorityClass.create }}
{{- .Values.priorityClassName | default (include "convene.fullname" .) }}
{{- else }}
{{- .Values.priorityClassName }}
{{- end }}
{{- end }}

{{- /* Hosts of the Ingress, which are strings or objects with paths. */}}
{{- define "convene.ingress.hosts" -}}
{{- range .hosts }}
- {{ kindIs "map" . | ternary . (dict "host" .) | dig "host" "" | quote }}
{{- end }}
{{- end }}
