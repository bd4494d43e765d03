{{- /* Values with a new name. values.schema.json lets the old names pass, so that the error names the new ones. */}}
{{- define "convene.refuseRenamed" -}}
{{- $used := list }}
{{- range $old, $new := dict
  "engine" "livekit"
  "networkPolicy.enginePorts" "networkPolicy.mediaServerPorts"
  "networkPolicy.engineTo" "networkPolicy.mediaServerTo"
  "monitoring.prometheusRule.alerts.ConveneEngineUnreachable" "monitoring.prometheusRule.alerts.ConveneMediaServerUnreachable"
  "monitoring.prometheusRule.alerts.ConveneClusterAPIUnreachable" "monitoring.prometheusRule.alerts.ConveneAPIServerUnreachable"
  "monitoring.prometheusRule.alerts.ConveneDefinitionsOutdated" "monitoring.prometheusRule.alerts.ConveneCRDsOutdated"
}}
{{- $at := $.Values.AsMap }}
{{- range splitList "." $old }}
{{- $at = kindIs "map" $at | ternary (index ($at | default dict) .) nil }}
{{- end }}
{{- if not (kindIs "invalid" $at) }}
{{- $used = append $used (printf "%s is %s now" $old $new) }}
{{- end }}
{{- end }}
{{- range $.Values.extraArgs }}
{{- if regexMatch "^--engine-calls-per-second(=|$)" . }}
{{- $used = append $used "--engine-calls-per-second in extraArgs is --media-server-calls-per-second now" }}
{{- end }}
{{- end }}
{{- with $used }}
{{- fail (printf "these values have new names: %s. Write the new names into your values; where Helm reuses the values of the release, also add --set OLD=null for each old name" (join ", " .)) }}
{{- end }}
{{- end }}
