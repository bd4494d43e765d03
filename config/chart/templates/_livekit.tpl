{{- define "convene.livekit.name" -}}
{{ include "convene.fullname" . }}-livekit
{{- end }}

{{- define "convene.livekit.namespace" -}}
{{ .Values.livekit.namespace | default .Release.Namespace }}
{{- end }}

{{- define "convene.livekit.secretName" -}}
{{ .Values.livekit.secretName | default (include "convene.livekit.name" .) }}
{{- end }}

{{- define "convene.livekit.turnSecretName" -}}
{{ .Values.livekit.turn.secretName | default (printf "%s-turn" (include "convene.livekit.name" .)) }}
{{- end }}

{{- define "convene.livekit.redisAddress" -}}
{{- if .Values.livekit.redis.create -}}
{{ include "convene.livekit.name" . }}-redis.{{ include "convene.livekit.namespace" . }}.svc:6379
{{- else -}}
{{ .Values.livekit.redis.address }}
{{- end }}
{{- end }}

{{- /* What values.schema.json cannot say: rules between values. */}}
{{- define "convene.livekit.check" -}}
{{- with .Values.livekit }}
{{- $configured := (.config | default dict).redis | default dict }}
{{- $given := or $configured.address $configured.sentinel_addresses $configured.cluster_addresses }}
{{- $scaled := include "convene.scaled" (list .autoscaling .nodes) }}
{{- if and (or (gt (int .nodes) 1) $scaled) (not .redis.address) (not .redis.create) (not $given) }}
{{- fail "livekit.nodes above 1 or empty, and livekit.autoscaling, need livekit.redis.address, livekit.redis.create, or in livekit.config.redis sentinel_addresses or cluster_addresses" }}
{{- end }}
{{- if and .redis.create (or .redis.address $given) }}
{{- fail "livekit.redis.create excludes livekit.redis.address, and addresses in livekit.config.redis" }}
{{- end }}
{{- if and .redis.create (not .redis.passwordSecretName) (or (eq .network "hostNetwork") (not $.Values.networkPolicy.enabled)) }}
{{- fail "livekit.redis.create needs livekit.redis.passwordSecretName with host networking, and without networkPolicy.enabled: no network policy keeps others out then" }}
{{- end }}
{{- $ips := len (.loadBalancer.ips | default list) }}
{{- if and $scaled (eq .network "loadBalancer") }}
{{- fail "livekit.autoscaling, and an empty livekit.nodes, need livekit.network=hostNetwork: each load balancer has an address that was reserved for it" }}
{{- end }}
{{- if and (eq .network "loadBalancer") (or (not $ips) (and (int .nodes) (ne $ips (int .nodes)))) }}
{{- fail "livekit.loadBalancer.ips needs one address for each of livekit.nodes; with livekit.nodes=0 those of the nodes that are stopped" }}
{{- end }}
{{- if and (int .nodes) (gt (len (.loadBalancer.nodeAnnotations | default list)) (int .nodes)) }}
{{- fail "livekit.loadBalancer.nodeAnnotations has more entries than there are livekit.nodes" }}
{{- end }}
{{- if and .useExternalIP (not .stunServers) }}
{{- fail "livekit.useExternalIP needs livekit.stunServers to ask, for example [stun.l.google.com:19302]" }}
{{- end }}
{{- include "convene.livekit.refuse" (.config | default dict) }}
{{- $ports := list 7880 (int .udpPort) }}
{{- if .tcpPort }}
{{- $ports = append $ports (int .tcpPort) }}
{{- end }}
{{- if and .previousSecretName (eq .previousSecretName (include "convene.livekit.secretName" $)) }}
{{- fail "livekit.previousSecretName is the Secret that LiveKit reads already: name the new key's Secret in livekit.secretName" }}
{{- end }}
{{- $nodes := eq .network "loadBalancer" | ternary (join "" .loadBalancer.ips) "" }}
{{- if and (or .turn.enabled .turn.udpPort) (contains ":" $nodes) (contains "." $nodes) }}
{{- fail "TURN needs livekit.loadBalancer.ips of one IP family, since LiveKit's nodes share its configuration" }}
{{- end }}
{{- if .turn.enabled }}
{{- $ports = append $ports 5349 }}
{{- end }}
{{- if .turn.udpPort }}
{{- $ports = append $ports (int .turn.udpPort) }}
{{- end }}
{{- if .serviceMonitor.enabled }}
{{- $ports = append $ports (int .serviceMonitor.port) }}
{{- end }}
{{- if ne (len $ports) (len (uniq $ports)) }}
{{- fail "livekit.udpPort, livekit.tcpPort, livekit.turn.udpPort and livekit.serviceMonitor.port need a number each, and neither 7880 (LiveKit's API) nor 5349 (TURN): where TCP and UDP have the same number, Kubernetes loses one of them in an upgrade" }}
{{- end }}
{{- if and .turn.enabled (not .turn.domain) }}
{{- fail "livekit.turn.enabled needs livekit.turn.domain" }}
{{- end }}
{{- if and .turn.externalTLS (or .turn.secretName .turn.issuerRef) }}
{{- fail "livekit.turn.externalTLS excludes livekit.turn.secretName and livekit.turn.issuerRef: the load balancer has the certificate" }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Refuses what livekit.config cannot set alone: ports, volumes and Secrets of pods and Services follow from other values. */}}
{{- define "convene.livekit.refuse" -}}
{{- $config := . }}
{{- range $key, $value := dict
  "key_file" "livekit.secretName"
  "webhook.api_key" "livekit.secretName"
  "prometheus.username" "livekit.serviceMonitor, and keep the port shut for others"
  "prometheus.password" "livekit.serviceMonitor, and keep the port shut for others"
  "port" "no other value: LiveKit's API has port 7880"
  "keys" "livekit.secretName, and livekit.previousSecretName while you change the key"
  "prometheus_port" "livekit.serviceMonitor"
  "prometheus.port" "livekit.serviceMonitor"
  "redis.password" "livekit.redis.passwordSecretName"
  "rtc.node_ip" "livekit.loadBalancer.ips, or livekit.useExternalIP"
  "rtc.use_external_ip" "livekit.useExternalIP"
  "rtc.udp_port" "livekit.udpPort"
  "rtc.tcp_port" "livekit.tcpPort"
  "rtc.port_range_start" "livekit.udpPort: all media has one port"
  "rtc.port_range_end" "livekit.udpPort: all media has one port"
  "turn.enabled" "livekit.turn.enabled"
  "turn.domain" "livekit.turn.domain"
  "turn.tls_port" "livekit.turn.enabled: its load balancer has port 443"
  "turn.udp_port" "livekit.turn.udpPort"
  "turn.external_tls" "livekit.turn.externalTLS"
  "turn.cert_file" "livekit.turn.secretName"
  "turn.key_file" "livekit.turn.secretName"
}}
{{- $at := $config }}
{{- range splitList "." $key }}
{{- $at = kindIs "map" $at | ternary $at dict }}
{{- $at = get $at . }}
{{- end }}
{{- if not (has $at (list nil "")) }}
{{- fail (printf "livekit.config.%s is not taken, since other objects have to follow it. Use %s" $key $value) }}
{{- end }}
{{- end }}
{{- range ($config.rtc | default dict).turn_servers }}
{{- if .secret }}
{{- fail "livekit.config.rtc.turn_servers takes no secret, since it is a ConfigMap. Use secret_file, with a Secret in livekit.volumes (defaultMode: 0440) and livekit.volumeMounts" }}
{{- end }}
{{- end }}
{{- end }}

{{- /* livekit.yaml. Keys, addresses and passwords come from the environment. */}}
{{- define "convene.livekit.config" -}}
{{- $e := .Values.livekit }}
{{- $rtc := dict
  "udp_port" (int $e.udpPort)
  "tcp_port" (int $e.tcpPort)
  "use_external_ip" ($e.useExternalIP | default false)
  "stun_servers" ($e.stunServers | default (list "127.0.0.1:3478"))
  "pli_throttle" (dict "low_quality" "100ms" "mid_quality" "100ms" "high_quality" "100ms")
  "data_channel_max_buffered_amount" 1048576
}}
{{- $config := dict
  "port" 7880
  "logging" (dict "json" true "level" "info" "sample" true)
  "room" (dict "auto_create" false "enable_remote_unmute" true)
  "rtc" $rtc
  "limit" (dict "subscription_limit_video" 120 "subscription_limit_audio" 1000)
  "webhook" (dict "urls" (list (printf "http://%s.%s.svc:%d/media-server/webhook" (include "convene.fullname" .) .Release.Namespace (empty .Values.gatewayTLS.secretName | ternary (int .Values.service.port) 8082))))
}}
{{- with include "convene.livekit.redisAddress" . }}
{{- $_ := set $config "redis" (dict "address" .) }}
{{- end }}
{{- if or $e.turn.enabled $e.turn.udpPort }}
{{- $turn := dict "enabled" true "allow_restricted_peer_cidrs" ($e.turn.allowPeerCIDRs | default list) }}
{{- if and (eq $e.network "loadBalancer") (contains ":" (join "" $e.loadBalancer.ips)) }}
{{- $_ := set $turn "bind_addresses" (list "::") }}
{{- end }}
{{- with $e.turn.udpPort }}
{{- $_ := set $turn "udp_port" (int .) }}
{{- end }}
{{- if $e.turn.enabled }}
{{- $turn = merge $turn (dict "domain" $e.turn.domain "tls_port" 5349) }}
{{- $turn = merge $turn (ternary (dict "external_tls" true)
  (dict "cert_file" "/etc/livekit/turn/tls.crt" "key_file" "/etc/livekit/turn/tls.key") ($e.turn.externalTLS | default false)) }}
{{- end }}
{{- $_ := set $config "turn" $turn }}
{{- end }}
{{- if $e.serviceMonitor.enabled }}
{{- $_ := set $config "prometheus" (dict "port" (int $e.serviceMonitor.port)) }}
{{- end }}
{{- $ours := $config.webhook.urls }}
{{- $config = mergeOverwrite $config ($e.config | default dict) }}
{{- $webhook := $config.webhook | default dict }}
{{- $_ := set $config "webhook" (set $webhook "urls" (concat $ours ($webhook.urls | default list) | uniq)) }}
{{- toYaml $config }}
{{- end }}

{{- /* Variables of LiveKit: (dict root ROOT node NODE). */}}
{{- define "convene.livekit.env" -}}
{{- $ := .root }}
{{- $e := $.Values.livekit }}
{{- include "convene.goMemoryLimit" $e }}
- name: LIVEKIT_API_KEY
  valueFrom:
    secretKeyRef:
      name: {{ include "convene.livekit.secretName" $ | quote }}
      key: apiKey
- name: LIVEKIT_API_SECRET
  valueFrom:
    secretKeyRef:
      name: {{ include "convene.livekit.secretName" $ | quote }}
      key: apiSecret
{{- with $e.previousSecretName }}
- name: LIVEKIT_PREVIOUS_API_KEY
  valueFrom:
    secretKeyRef:
      name: {{ . | quote }}
      key: apiKey
- name: LIVEKIT_PREVIOUS_API_SECRET
  valueFrom:
    secretKeyRef:
      name: {{ . | quote }}
      key: apiSecret
{{- end }}
- name: LIVEKIT_KEYS
  value: "$(LIVEKIT_API_KEY): $(LIVEKIT_API_SECRET){{ if $e.previousSecretName }}\n$(LIVEKIT_PREVIOUS_API_KEY): $(LIVEKIT_PREVIOUS_API_SECRET){{ end }}"
- name: LIVEKIT_WEBHOOK_API_KEY
  value: $(LIVEKIT_API_KEY)
{{- if not $e.useExternalIP }}
- name: NODE_IP
  {{- if eq $e.network "loadBalancer" }}
  value: {{ index $e.loadBalancer.ips .node | quote }}
  {{- else }}
  valueFrom:
    fieldRef:
      fieldPath: status.hostIP
  {{- end }}
{{- end }}
{{- with $e.redis.passwordSecretName }}
- name: REDIS_PASSWORD
  valueFrom:
    secretKeyRef:
      name: {{ . | quote }}
      key: password
{{- end }}
{{- end }}

{{- define "convene.livekit.podSpec" -}}
{{- $ := .root }}
{{- $e := $.Values.livekit -}}
automountServiceAccountToken: false
# Variables of a Service that is called livekit would be taken for LiveKit's own.
enableServiceLinks: false
{{- include "convene.imagePullSecrets" (list $ $e.imagePullSecrets) | nindent 0 }}
{{- if eq $e.network "hostNetwork" }}
hostNetwork: true
dnsPolicy: ClusterFirstWithHostNet
{{- end }}
terminationGracePeriodSeconds: {{ $e.terminationGracePeriodSeconds }}
securityContext:
  {{- include "convene.securityContext" (list $ $e.podSecurityContext) | nindent 2 }}
containers:
  - name: livekit
    image: {{ include "convene.imageOf" (list $ $e.image) | quote }}
    imagePullPolicy: {{ $e.image.pullPolicy }}
    args: [--config=/etc/livekit/config/livekit.yaml]
    env:
      {{- include "convene.env" (list (include "convene.livekit.env" .) $e.extraEnv) | nindent 6 }}
    ports:
      - name: api
        containerPort: 7880
      - name: media-udp
        containerPort: {{ $e.udpPort }}
        protocol: UDP
      {{- if $e.tcpPort }}
      - name: media-tcp
        containerPort: {{ $e.tcpPort }}
      {{- end }}
      {{- if $e.turn.enabled }}
      - name: turn
        containerPort: 5349
      {{- end }}
      {{- if $e.turn.udpPort }}
      - name: turn-udp
        containerPort: {{ $e.turn.udpPort }}
        protocol: UDP
      {{- end }}
      {{- if $e.serviceMonitor.enabled }}
      - name: metrics
        containerPort: {{ $e.serviceMonitor.port }}
      {{- end }}
    startupProbe:
      httpGet:
        path: /
        port: api
      initialDelaySeconds: 2
      periodSeconds: 2
      failureThreshold: 60
    livenessProbe:
      httpGet:
        path: /
        port: api
      periodSeconds: 10
    readinessProbe:
      httpGet:
        path: /
        port: api
      periodSeconds: 5
    resources:
      {{- toYaml $e.resources | nindent 6 }}
    securityContext:
      {{- include "convene.securityContext" (list $ $e.securityContext) | nindent 6 }}
    volumeMounts:
      - name: config
        mountPath: /etc/livekit/config
        readOnly: true
      {{- if and $e.turn.enabled (not $e.turn.externalTLS) }}
      - name: turn
        mountPath: /etc/livekit/turn
        readOnly: true
      {{- end }}
      {{- with $e.volumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
volumes:
  - name: config
    configMap:
      name: {{ include "convene.livekit.name" $ | quote }}
  {{- if and $e.turn.enabled (not $e.turn.externalTLS) }}
  - name: turn
    secret:
      secretName: {{ include "convene.livekit.turnSecretName" $ | quote }}
  {{- end }}
  {{- with $e.volumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- include "convene.given" (list $e "nodeSelector" "tolerations" "affinity" "priorityClassName" "dnsConfig" "runtimeClassName") | nindent 0 }}
{{- include "convene.spread" (list $ "livekit" $e.topologySpreadConstraints) | nindent 0 }}
{{- if not $e.affinity }}
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels:
              {{- include "convene.selectorLabels" (list $ "livekit") | nindent 14 }}
{{- end }}
{{- end }}
