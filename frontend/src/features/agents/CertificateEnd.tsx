import { Stack, Text } from "@mantine/core";
import type { Agent } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { useNow } from "@/lib/time/useNow";
import { StatusMark } from "@/lib/ui/StatusMark";
import { certificateState } from "./certificate";

/** When an agent's certificate ends: how far away that is, the time, and what to do when nothing renews it. */
export function CertificateEnd({ agent }: { agent: Agent }) {
  const { time } = useTimeFormat();
  const { tone, text, todo } = certificateState(agent.certificate, agent.connected, useNow());
  return (
    <Stack gap={0}>
      {tone ? <StatusMark tone={tone}>{text}</StatusMark> : <Text size="sm">{text}</Text>}
      {agent.certificate && (
        <Text size="xs" c="dimmed">
          {time(agent.certificate.expires_at)}
        </Text>
      )}
      {todo && <Text size="xs">{todo}</Text>}
    </Stack>
  );
}
