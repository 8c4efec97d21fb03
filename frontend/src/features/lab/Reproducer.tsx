import { Button, Code, CopyButton, Group, ScrollArea, Table, Text } from "@mantine/core";
import { useState } from "react";
import type { FoundCause } from "@/lib/api/types";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { differences } from "./labText";

/** The smallest configuration that fails next to its nearest neighbour that passes, and the text of a ticket. */
export function Reproducer({ cause }: { cause: FoundCause }) {
  const [shown, setShown] = useState(false);
  const changed = differences(cause);
  return (
    <section aria-label={`Reproducer of cause ${cause.id}`}>
      <Group justify="space-between" mb={4}>
        <Text size="sm" fw={600}>
          Minimal reproducer
        </Text>
        <Group gap={6}>
          {cause.ticket_url !== null && (
            <Button
              size="compact-xs"
              variant="default"
              component="a"
              href={cause.ticket_url}
              target="_blank"
              rel="noreferrer"
              aria-label={`Open ticket about cause ${cause.id}`}
            >
              Open ticket
            </Button>
          )}
          <CopyButton value={cause.reproducer}>
            {({ copied, copy }) => (
              <Button size="compact-xs" variant="default" onClick={copy}>
                {copied ? "Copied" : "Copy ticket text"}
              </Button>
            )}
          </CopyButton>
          <Button size="compact-xs" variant="default" aria-expanded={shown} onClick={() => setShown((was) => !was)}>
            {shown ? "Hide text" : "Show text"}
          </Button>
        </Group>
      </Group>
      {changed.length > 0 && (
        <HeadedTable label="Failing and passing" titles={["Parameter", "Fails", "Passes"]}>
          {changed.map(({ name, failing, passing }) => (
            <Table.Tr key={name}>
              <Table.Td style={{ fontFamily: "var(--ww-mono)" }}>{name}</Table.Td>
              <Table.Td>{failing}</Table.Td>
              <Table.Td>{passing}</Table.Td>
            </Table.Tr>
          ))}
        </HeadedTable>
      )}
      {shown && (
        <ScrollArea.Autosize
          mah={320}
          mt={6}
          viewportProps={{ tabIndex: 0, role: "group", "aria-label": "Ticket text" }}
        >
          <Code block>{cause.reproducer}</Code>
        </ScrollArea.Autosize>
      )}
    </section>
  );
}
