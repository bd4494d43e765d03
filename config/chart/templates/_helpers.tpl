{{- define "convene.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 40 | trimAll "-" }}
{{- end }}

{{- /* The name of objects. Names of Services begin with a letter and have no dots; those of releases may. */}}
{{- define "convene.fullname" -}}
{{- $name := .Values.fullnameOverride }}
{{- if $name }}
{{- else if not (regexMatch "^[a-z]" .Release.Name) }}
{{- $name = printf "%s-%s" (include "convene.name" .) .Release.Name }}
{{- else if contains (include "convene.name" .) .Release.Name }}
{{- $name = .Release.Name }}
{{- else }}
{{- $name = printf "%s-%s" .Release.Name (include "convene.name" .) }}
{{- end }}
{{- $name | replace "." "-" | trunc 40 | trimAll "-" }}
{{- end }}

{{- define "convene.serviceAccountName" -}}
{{- if not (or .Values.serviceAccount.create .Values.serviceAccount.name) }}
{{- fail "serviceAccount.create=false needs serviceAccount.name: the name of a service account that exists" }}
{{- end }}
{{- .Values.serviceAccount.name | default (include "convene.fullname" .) }}
{{- end }}

{{- /* Maps as one: (list MAP…), later ones win. Kustomize and others refuse YAML in which a key is twice, so no map is written below another. */}}
{{- define "convene.merged" -}}
{{- $all := dict }}
{{- range . }}
{{- range $key, $value := . }}
{{- $_ := set $all $key $value }}
{{- end }}
{{- end }}
{{- with $all }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{- /* Variables of a container, as text: (list OWN EXTRA). Those of values come first, so that the chart's can be made of them, and stand
in for the chart's of the same name: a name that is there twice is refused by server-side apply. */}}
{{- define "convene.env" -}}
{{- $all := last . | default list }}
{{- $given := list }}
{{- range $all }}
{{- $given = append $given .name }}
{{- end }}
{{- range first . | fromYamlArray }}
{{- if not (has .name $given) }}
{{- $all = append $all . }}
{{- end }}
{{- end }}
{{- with $all }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{- /* What selects a component: (list ROOT COMPONENT LABELS…). */}}
{{- define "convene.selectorLabels" -}}
{{- $root := first . }}
{{- $own := dict "app.kubernetes.io/name" (include "convene.name" $root) "app.kubernetes.io/instance" $root.Release.Name }}
{{- with index . 1 }}
{{- $_ := set $own "app.kubernetes.io/component" . }}
{{- end }}
{{- include "convene.merged" (append (slice . 2) $own) }}
{{- end }}

{{- /* Labels of an object: (list ROOT COMPONENT LABELS…), beside those of all objects. Those that select win. */}}
{{- define "convene.labels" -}}
{{- $root := first . }}
{{- $all := dict
  "helm.sh/chart" (printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_")
  "app.kubernetes.io/version" $root.Chart.AppVersion
  "app.kubernetes.io/part-of" "convene"
  "app.kubernetes.io/managed-by" $root.Release.Service }}
{{- include "convene.selectorLabels" (concat (list $root (index . 1) $all $root.Values.commonLabels) (slice . 2)) }}
{{- end }}

{{- /* Labels of a pod, as those of an object, with nothing that changes with the chart's version: a new chart must not cut LiveKit's calls. */}}
{{- define "convene.podLabels" -}}
{{- $root := first . }}
{{- include "convene.selectorLabels" (concat (list $root (index . 1) $root.Values.commonLabels) (slice . 2)) }}
{{- end }}

{{- /* Annotations of an object: (list ROOT ANNOTATIONS…), beside those of all objects; later ones win. */}}
{{- define "convene.annotations" -}}
{{- with include "convene.merged" (prepend (rest .) (first .).Values.commonAnnotations) }}
  annotations:
    {{- . | nindent 4 }}
{{- end }}
{{- end }}

{{- define "convene.image" -}}
{{- include "convene.imageOf" (list . (merge dict .Values.image (dict "tag" .Chart.AppVersion))) }}
{{- end }}

{{- /* An image of values, by its digest where that is set: (list ROOT IMAGE). global.imageRegistry takes the place of its registry. */}}
{{- define "convene.imageOf" -}}
{{- $image := last . }}
{{- $repository := $image.repository }}
{{- with ((first .).Values.global | default dict).imageRegistry }}
{{- $repository = printf "%s/%s" (trimSuffix "/" .) (regexReplaceAll "^([^/]*[.:][^/]*|localhost)/" $repository "") }}
{{- end }}
{{- $repository }}{{ if $image.digest }}@{{ $image.digest }}{{ else }}:{{ $image.tag }}{{ end }}
{{- end }}

{{- /* The Lease of the managers that serve a namespace, or all of them, as kube.LeaseName has it. */}}
{{- define "convene.lease" -}}
{{ with .Values.watchNamespace }}{{ . }}.{{ end }}controllers.convene.dev
{{- end }}

{{- /* The name of an object that others in the cluster can have as well, since it is in no namespace or in another than the release. Neither
part has a dot. */}}
{{- define "convene.clusterName" -}}
{{ .Release.Namespace }}.{{ include "convene.fullname" . }}
{{- end }}

{{- /* The name of an object: (list ROOT NAMESPACE). */}}
{{- define "convene.nameIn" -}}
{{- include (eq (last .) (first .).Release.Namespace | ternary "convene.fullname" "convene.clusterName") (first .) }}
{{- end }}

{{- /* The value of a PriorityClass cannot be changed: one that Helm makes has it in its name. No name may begin with "system-". */}}
{{- define "convene.priorityClassName" -}}
{{- if .Values.priorityClass.create }}
{{- .Values.priorityClassName | default (printf "%s.%s.%d" (include "convene.fullname" .) .Release.Namespace (int .Values.priorityClass.value)) }}
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
