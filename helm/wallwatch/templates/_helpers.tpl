{{- define "wallwatch.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{- else -}}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{- end -}}
{{- end }}

{{/* Labels of one component: dict "root" $ "component" "ingest" */}}
{{- define "wallwatch.selector" -}}
app.kubernetes.io/name: wallwatch
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "wallwatch.labels" -}}
{{ include "wallwatch.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "wallwatch.image" -}}
{{ .image.repository }}:{{ .image.tag | default .root.Chart.AppVersion }}
{{- end }}

{{- define "wallwatch.databaseSecret" -}}
{{ .Values.database.existingSecret | default (printf "%s-database" (include "wallwatch.fullname" .)) }}
{{- end }}

{{/* The database for one of its roles: dict "root" $ "role" "ingest" */}}
{{- define "wallwatch.databaseEnv" -}}
- name: WALLWATCH_DATABASE_URL
  valueFrom:
    secretKeyRef: {name: {{ include "wallwatch.databaseSecret" .root }}, key: {{ .role }}-url}
{{- end }}

{{/* Further settings, those that settings.txt lists, and variables of others. */}}
{{- define "wallwatch.settingsEnv" -}}
{{- $known := .Files.Get "settings.txt" | splitList "\n" -}}
{{- range $name, $value := .Values.settings }}
{{- if not (has $name $known) }}{{ fail (printf "settings: %s is no setting of Wallwatch, or the chart sets it by a value of its own" $name) }}{{ end }}
- {name: {{ $name }}, value: {{ $value | quote }}}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "wallwatch.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: {type: RuntimeDefault}
{{- end }}
{{- define "wallwatch.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* A claim template or claim spec: dict "storage" .Values.x.storage "mode" "ReadWriteOnce" */}}
{{- define "wallwatch.claimSpec" -}}
accessModes: [{{ .mode }}]
{{- with .storage.className }}
storageClassName: {{ . }}
{{- end }}
resources: {requests: {storage: {{ .storage.size }}}}
{{- end }}

{{/* How browsers reach the backend. */}}
{{- define "wallwatch.publicUrl" -}}
{{- $ingress := .Values.backend.ingress -}}
{{- if .Values.backend.publicUrl -}}{{ .Values.backend.publicUrl -}}
{{- else if $ingress.enabled -}}{{ ternary "https" "http" (ne $ingress.tlsSecret "") }}://{{ $ingress.host -}}
{{- else -}}{{ include "wallwatch.serviceUrl" . }}{{- end -}}
{{- end }}
{{/* How agents reach their port; the certificate of the port is for this name. */}}
{{- define "wallwatch.agentUrl" -}}
{{- .Values.backend.agents.url | default (printf "https://%s-backend:%d" (include "wallwatch.fullname" .) (int .Values.backend.agents.port)) -}}
{{- end }}
{{- define "wallwatch.serviceUrl" -}}
{{ printf "http://%s-backend:%d" (include "wallwatch.fullname" .) (int .Values.backend.service.port) }}
{{- end }}

{{- define "wallwatch.telemetrySecret" -}}
{{ .Values.telemetry.existingSecret | default (printf "%s-telemetry" (include "wallwatch.fullname" .)) }}
{{- end }}

{{- define "wallwatch.telemetryEnv" -}}
- {name: WALLWATCH_TELEMETRY_SECRET_FILE, value: /var/lib/wallwatch-telemetry/secret}
{{- end }}

{{- define "wallwatch.telemetryMount" -}}
- {name: telemetry, mountPath: /var/lib/wallwatch-telemetry, readOnly: true}
{{- end }}

{{- define "wallwatch.telemetryVolume" -}}
- name: telemetry
  secret: {secretName: {{ include "wallwatch.telemetrySecret" . }}, defaultMode: 0440}
{{- end }}

{{/* Where the pods of the server may run. */}}
{{- define "wallwatch.scheduling" -}}
{{- with .Values.scheduling.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.scheduling.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.scheduling.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.scheduling.topologySpreadConstraints }}
topologySpreadConstraints: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.scheduling.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{/* Refuses to make a Secret where generateSecrets is false: dict "root" $ "value" "database.existingSecret" */}}
{{- define "wallwatch.mayGenerate" -}}
{{- if not .root.Values.generateSecrets }}{{ fail (printf "generateSecrets is false: name a Secret of your own in %s" .value) }}{{ end }}
{{- end }}
