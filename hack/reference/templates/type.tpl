{{- define "type" -}}
{{- $type := . -}}
{{- if markdownShouldRenderType $type }}
### {{ $type.Name }}
{{ with $type.Doc }}
{{ . }}
{{ end }}
{{- with $type.SortedReferences }}
Used in {{ range $i, $r := . }}{{ if $i }}, {{ end }}{{ markdownRenderTypeLink $r }}{{ end }}.
{{ end }}
{{- if $type.Members }}
| field | type | what it is | rules |
| --- | --- | --- | --- |
{{- range $type.Members }}
| `{{ .Name }}` | {{ markdownRenderType .Type }} | {{ if eq .Name "metadata" }}as for every object{{ else }}{{ markdownRenderFieldDoc .Doc }}{{ end }} | {{ template "rules" . }} |
{{- end }}
{{ end }}
{{- if $type.EnumValues }}
| value | what it is |
| --- | --- |
{{- range $type.EnumValues }}
| `{{ .Name }}` | {{ markdownRenderFieldDoc .Doc }} |
{{- end }}
{{ end }}
{{- end -}}
{{- end -}}

{{- define "rules" -}}
{{- range .Validation -}}
{{- if hasPrefix "Required" . }}required<br />{{ else if not (or (hasPrefix "Optional" .) (hasPrefix "items:XValidation" .)) }}{{ markdownRenderFieldDoc . }}<br />{{ end -}}
{{- end -}}
{{- with markdownRenderDefault .Default }}default {{ . }}{{ end -}}
{{- end -}}
