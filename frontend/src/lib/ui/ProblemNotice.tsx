import { Alert, Button, Code, Group, List, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { asProblem } from "../api/problem";

/** An error with its stable code, what it says, and a way to try again. */
export function ProblemNotice({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const problem = asProblem(error);
  return (
    <Alert
      role="alert"
      icon={<IconAlertTriangle size={18} />}
      title={problem.title}
      styles={{
        root: { background: "var(--ww-raised)", border: "1px solid var(--ww-bad)" },
        title: { color: "var(--ww-bad)" },
        icon: { color: "var(--ww-bad)" },
        message: { color: "var(--ww-text)" },
      }}
    >
      {problem.detail && <Text size="sm">{problem.detail}</Text>}
      {problem.fields.length > 0 && (
        <List size="sm" mt={4}>
          {problem.fields.map((field) => (
            <List.Item key={field.where + field.message}>
              {field.where && <Code>{field.where}</Code>} {field.message}
            </List.Item>
          ))}
        </List>
      )}
      <Group mt="xs" gap="sm">
        {onRetry && (
          <Button size="compact-xs" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
        <Text size="xs" c="dimmed">
          Code <Code>{problem.code}</Code>
        </Text>
      </Group>
    </Alert>
  );
}
