import { Alert, Button, Code, CopyButton, Group, Text } from "@mantine/core";

/** A secret that the server shows only once: shown whole, copied with one click. */
export function SecretOnce({ label, secret, hint }: { label: string; secret: string; hint: string }) {
  return (
    <Alert
      title={`${label}: shown only now`}
      styles={{
        root: { background: "var(--ww-raised)", border: "1px solid var(--ww-warn)" },
        title: { color: "var(--ww-warn)" },
        message: { color: "var(--ww-text)" },
      }}
    >
      <Group gap={8} wrap="nowrap" align="flex-start">
        <Code block style={{ flex: 1, whiteSpace: "pre-wrap", overflowWrap: "anywhere" }} aria-label={label}>
          {secret}
        </Code>
        <CopyButton value={secret}>
          {({ copied, copy }) => (
            <Button size="compact-xs" variant="default" onClick={copy}>
              {copied ? "Copied" : "Copy"}
            </Button>
          )}
        </CopyButton>
      </Group>
      <Text size="sm" mt={6}>
        {hint}
      </Text>
    </Alert>
  );
}
