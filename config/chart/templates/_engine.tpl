{{- define "convene.engine.name" -}}
{{ include "convene.fullname" . }}-livekit
{{- end }}

{{- define "convene.engine.namespace" -}}
{{ .Values.engine.namespace | default .Release.Namespace }}
{{- end }}

{{- define "convene.engine.secretName" -}}
{{ .Values.engine.secretName | default (include "convene.engine.name" .) }}
{{- end }}

{{- define "convene.engine.turnSecretName" -}}
{{ .Values.engine.turn.secretName | default (printf "%s-turn" (include "convene.engine.name" .)) }}
{{- end }}

{{- define "convene.engine.redisAddress" -}}
{{- if .Values.engine.redis.create -}}
{{ include "convene.engine.name" . }}-redis.{{ include "convene.engine.namespace" . }}.svc:6379
{{- else -}}
{{ .Values.engine.redis.address }}
{{- end }}
{{- end }}

{{- /* What values.schema.json cannot say: rules between values. */}}
{{- define "convene.engine.check" -}}
{{- with .Values.engine }}
{{- $configured := (.config | default dict).redis | default dict }}
{{- $given := or $configured.address $configured.sentinel_addresses $configured.cluster_addresses }}
{{- if and (or (gt (int .nodes) 1) .autoscaling.enabled) (not .redis.address) (not .redis.create) (not $given) }}
{{- fail "engine.nodes above 1, and engine.autoscaling, need engine.redis.address, engine.redis.create, or in engine.config.redis sentinel_addresses or cluster_addresses" }}
{{- end }}
{{- if and .redis.create (or .redis.address $given) }}
{{- fail "engine.redis.create excludes engine.redis.address, and addresses in engine.config.redis" }}
{{- end }}
{{- if and .redis.create (not .redis.passwordSecretName) (or (eq .network "hostNetwork") (not $.Values.networkPolicy.enabled)) }}
{{- fail "engine.redis.create needs engine.redis.passwordSecretName with host networking, and without networkPolicy.enabled: no network policy keeps others out then" }}
{{- end }}
{{- if and (eq .network "loadBalancer") (ne (len (.loadBalancer.ips | default list)) (int .nodes)) }}
{{- fail "engine.loadBalancer.ips needs one address for each of engine.nodes" }}
{{- end }}
{{- if and .autoscaling.enabled (eq .network "loadBalancer") }}
{{- fail "engine.autoscaling needs engine.network=hostNetwork: each load balancer has an address that was reserved for it" }}
{{- end }}
{{- if gt (len (.loadBalancer.nodeAnnotations | default list)) (int .nodes) }}
{{- fail "engine.loadBalancer.nodeAnnotations has more entries than there are engine.nodes" }}
{{- end }}
{{- if and .useExternalIP (not .stunServers) }}
{{- fail "engine.useExternalIP needs engine.stunServers to ask, for example [stun.l.google.com:19302]" }}
{{- end }}
{{- $ports := list 7880 (int .udpPort) }}
{{- if .tcpPort }}
{{- $ports = append $ports (int .tcpPort) }}
{{- end }}
{{- if .turn.enabled }}
{{- $ports = append $ports 5349 }}
{{- end }}
{{- if .serviceMonitor.enabled }}
{{- $ports = append $ports (int .serviceMonitor.port) }}
{{- end }}
{{- if ne (len $ports) (len (uniq $ports)) }}
{{- fail "engine.udpPort, engine.tcpPort and engine.serviceMonitor.port need a number each, and neither 7880 (LiveKit's API) nor 5349 (TURN): where TCP and UDP have the same number, Kubernetes loses one of them in an upgrade" }}
{{- end }}
{{- if and .turn.enabled (not .turn.domain) }}
{{- fail "engine.turn.enabled needs engine.turn.domain" }}
{{- end }}
{{- end }}
{{- end }}

{{- /* livekit.yaml. Keys, addresses and passwords come from the environment. */}}
{{- define "convene.engine.config" -}}
{{- $e := .Values.engine }}
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
  "room" (dict "auto_create" false)
  "rtc" $rtc
  "limit" (dict "subscription_limit_video" 120 "subscription_limit_audio" 1000)
  "webhook" (dict "urls" (list (printf "http://%s.%s.svc:%d/engine/webhook" (include "convene.fullname" .) .Release.Namespace (empty .Values.gatewayTLS.secretName | ternary (int .Values.service.port) 8082))))
}}
{{- with include "convene.engine.redisAddress" . }}
{{- $_ := set $config "redis" (dict "address" .) }}
{{- end }}
{{- if $e.turn.enabled }}
{{- $_ := set $config "turn" (dict "enabled" true "domain" $e.turn.domain "tls_port" 5349
  "cert_file" "/etc/livekit/turn/tls.crt" "key_file" "/etc/livekit/turn/tls.key" "allow_restricted_peer_cidrs" ($e.turn.allowPeerCIDRs | default list)) }}
{{- end }}
{{- if $e.serviceMonitor.enabled }}
{{- $_ := set $config "prometheus" (dict "port" (int $e.serviceMonitor.port)) }}
{{- end }}
{{- toYaml (mergeOverwrite $config ($e.config | default dict)) }}
{{- end }}

{{- /* Variables of LiveKit: (dict root ROOT node NODE). */}}
{{- define "convene.engine.env" -}}
{{- $ := .root }}
{{- $e := $.Values.engine }}
{{- include "convene.goMemoryLimit" $e }}
- name: ENGINE_KEY
  valueFrom:
    secretKeyRef:
      name: {{ include "convene.engine.secretName" $ | quote }}
      key: apiKey
- name: ENGINE_SECRET
  valueFrom:
    secretKeyRef:
      name: {{ include "convene.engine.secretName" $ | quote }}
      key: apiSecret
- name: LIVEKIT_KEYS
  value: "$(ENGINE_KEY): $(ENGINE_SECRET)"
- name: LIVEKIT_WEBHOOK_API_KEY
  value: $(ENGINE_KEY)
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

{{- define "convene.engine.podSpec" -}}
{{- $ := .root }}
{{- $e := $.Values.engine -}}
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
    image: {{ include "convene.imageOf" $e.image | quote }}
    imagePullPolicy: {{ $e.image.pullPolicy }}
    args: [--config=/etc/livekit/config/livekit.yaml]
    env:
      {{- include "convene.env" (list (include "convene.engine.env" .) $e.extraEnv) | nindent 6 }}
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
      {{- if $e.turn.enabled }}
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
      name: {{ include "convene.engine.name" $ | quote }}
  {{- if $e.turn.enabled }}
  - name: turn
    secret:
      secretName: {{ include "convene.engine.turnSecretName" $ | quote }}
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
