{{/* How processes reach Kafka: the bundled broker always asks for a name over TLS; a cluster of your own as `kafka.client` says. */}}
{{- define "wallwatch.kafkaProtocol" -}}
{{ ternary "SASL_SSL" .Values.kafka.client.protocol .Values.kafka.enabled }}
{{- end }}

{{/* dict "root" $ "role" "ingest" */}}
{{- define "wallwatch.kafkaMechanism" -}}
{{- if .root.Values.kafka.enabled -}}{{ ternary "PLAIN" "SCRAM-SHA-512" (eq .role "admin") }}
{{- else if hasPrefix "SASL" .root.Values.kafka.client.protocol -}}{{ .root.Values.kafka.client.mechanism }}{{- end -}}
{{- end }}

{{/* The Secret of one role: dict "root" $ "role" "ingest" */}}
{{- define "wallwatch.kafkaSecret" -}}
{{ index .root.Values.kafka.secrets .role | default (printf "%s-kafka-%s" (include "wallwatch.fullname" .root) .role) }}
{{- end }}

{{/* "true" where users have passwords. */}}
{{- define "wallwatch.kafkaPasswords" -}}
{{- if and (hasPrefix "SASL" (include "wallwatch.kafkaProtocol" .)) (ne (include "wallwatch.kafkaMechanism" (dict "root" . "role" "host")) "OAUTHBEARER") -}}true{{- end -}}
{{- end }}

{{- define "wallwatch.kafkaOauth" -}}
{{- if eq (include "wallwatch.kafkaMechanism" (dict "root" . "role" "host")) "OAUTHBEARER" -}}true{{- end -}}
{{- end }}

{{/* "true" where clients have certificates. */}}
{{- define "wallwatch.kafkaMutualTls" -}}
{{- if and (not .Values.kafka.enabled) .Values.kafka.client.certificates -}}true{{- end -}}
{{- end }}

{{/* The Secret with `ca.crt`; nothing for the authorities of the system. */}}
{{- define "wallwatch.kafkaCaSecret" -}}
{{- if .Values.kafka.enabled -}}{{ .Values.kafka.tls.caSecret | default (include "wallwatch.kafkaTlsSecret" .) }}
{{- else if contains "SSL" .Values.kafka.client.protocol -}}{{ .Values.kafka.tls.caSecret }}{{- end -}}
{{- end }}

{{/* The Secret with the broker's certificate. */}}
{{- define "wallwatch.kafkaTlsSecret" -}}
{{ .Values.kafka.tls.existingSecret | default (printf "%s-kafka-tls" (include "wallwatch.fullname" .)) }}
{{- end }}

{{/* What a process needs to reach Kafka as one role: dict "root" $ "role" "ingest" */}}
{{- define "wallwatch.kafkaEnv" -}}
{{- $root := .root -}}
- {name: WALLWATCH_KAFKA_BOOTSTRAP, value: {{ include "wallwatch.kafkaBootstrap" $root | quote }}}
- {name: WALLWATCH_KAFKA_SECURITY_PROTOCOL, value: {{ include "wallwatch.kafkaProtocol" $root }}}
{{- with include "wallwatch.kafkaMechanism" . }}
- {name: WALLWATCH_KAFKA_SASL_MECHANISM, value: {{ . }}}
{{- end }}
{{- if include "wallwatch.kafkaPasswords" $root }}
- {name: WALLWATCH_KAFKA_SASL_USERNAME, value: wallwatch-{{ .role }}}
- {name: WALLWATCH_KAFKA_SASL_PASSWORD_FILE, value: /etc/wallwatch-kafka/password}
{{- end }}
{{- if include "wallwatch.kafkaCaSecret" $root }}
- {name: WALLWATCH_KAFKA_CA_FILE, value: /etc/wallwatch-kafka/ca.pem}
{{- end }}
{{- if include "wallwatch.kafkaMutualTls" $root }}
- {name: WALLWATCH_KAFKA_CERTIFICATE_FILE, value: /etc/wallwatch-kafka/tls.crt}
- {name: WALLWATCH_KAFKA_KEY_FILE, value: /etc/wallwatch-kafka/tls.key}
{{- if and $root.Values.kafka.client.keyPasswords (ne .role "host") }}
- {name: WALLWATCH_KAFKA_KEY_PASSWORD_FILE, value: /etc/wallwatch-kafka/key-password}
{{- end }}
{{- end }}
{{- if include "wallwatch.kafkaOauth" $root }}
{{- with $root.Values.kafka.client.oauth }}
- {name: WALLWATCH_KAFKA_OAUTH_TOKEN_URL, value: {{ required "kafka.client.oauth.tokenUrl is required with OAUTHBEARER" .tokenUrl | quote }}}
- {name: WALLWATCH_KAFKA_OAUTH_CLIENT_ID, value: wallwatch-{{ $.role }}}
- {name: WALLWATCH_KAFKA_OAUTH_CLIENT_SECRET_FILE, value: /etc/wallwatch-kafka/client-secret}
{{- if .scope }}
- {name: WALLWATCH_KAFKA_OAUTH_SCOPE, value: {{ .scope | quote }}}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "wallwatch.kafkaMount" -}}
- {name: kafka, mountPath: /etc/wallwatch-kafka, readOnly: true}
{{- end }}

{{/* The files of one role, of nobody else: dict "root" $ "role" "ingest" */}}
{{- define "wallwatch.kafkaVolume" -}}
{{- $root := .root -}}
{{- $items := list -}}
{{- if include "wallwatch.kafkaPasswords" $root }}{{ $items = append $items "password" }}{{ end -}}
{{- if include "wallwatch.kafkaMutualTls" $root }}{{ $items = concat $items (list "tls.crt" "tls.key") }}{{ end -}}
{{- if and (include "wallwatch.kafkaMutualTls" $root) $root.Values.kafka.client.keyPasswords (ne .role "host") }}{{ $items = append $items "key-password" }}{{ end -}}
{{- if include "wallwatch.kafkaOauth" $root }}{{ $items = append $items "client-secret" }}{{ end -}}
- name: kafka
  projected:
    defaultMode: 0440
    sources:
      {{- if $items }}
      - secret:
          name: {{ include "wallwatch.kafkaSecret" . }}
          items:
            {{- range $items }}
            - {key: {{ . }}, path: {{ . }}}
            {{- end }}
      {{- end }}
      {{- with include "wallwatch.kafkaCaSecret" $root }}
      - secret: {name: {{ . }}, items: [{key: ca.crt, path: ca.pem}]}
      {{- end }}
      {{- if not (or $items (include "wallwatch.kafkaCaSecret" $root)) }} []{{ end }}
{{- end }}

{{- define "wallwatch.kafkaBootstrap" -}}
{{- if .Values.kafka.enabled -}}{{ include "wallwatch.fullname" . }}-kafka:19092{{- else -}}{{ required "kafka.bootstrap is required when kafka.enabled is false" .Values.kafka.bootstrap }}{{- end -}}
{{- end }}
