import { Table, Text } from "@mantine/core";
import type { FoundCause } from "@/lib/api/types";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { StatusMark } from "@/lib/ui/StatusMark";

/** Whether each parameter was shown to matter, and how well the conditions predict fresh configurations. */
export function CauseEvidence({ cause }: { cause: FoundCause }) {
  const { permutation, verification } = cause;
  return (
    <div>
      {permutation.length > 0 && (
        <HeadedTable label={`Evidence of cause ${cause.id}`} titles={["Parameter", "Pairs that differ", "Verdict"]}>
          {permutation.map(({ parameter, pairs, held, kept }) => (
            <Table.Tr key={parameter ?? "boundary"}>
              <Table.Td style={{ fontFamily: "var(--ww-mono)" }}>{parameter ?? "boundary"}</Table.Td>
              <Table.Td>
                {held} of {pairs}
              </Table.Td>
              <Table.Td>
                <StatusMark tone={kept ? "good" : "quiet"}>
                  {kept ? "Matters" : held === pairs ? "Too few pairs" : "Not shown to matter"}
                </StatusMark>
              </Table.Td>
            </Table.Tr>
          ))}
        </HeadedTable>
      )}
      {permutation.length > 0 && (
        <Text size="xs" c="dimmed" mt={4}>
          A pair differs in one parameter only, all others are drawn at random. It counts when the test inside the cause
          is bad and the other is not.
        </Text>
      )}
      {verification && (
        <Text size="sm" mt={8}>
          {verification.inside.of + verification.outside.of === 0
            ? "Not verified: the campaign ended before any fresh configuration was tested."
            : `Verified on fresh configurations: ${verification.inside.agree} of ${verification.inside.of} inside, ` +
              `${verification.outside.agree} of ${verification.outside.of} just outside.`}
        </Text>
      )}
    </div>
  );
}
