import { Button, Checkbox, Group, Table, Text } from "@mantine/core";
import type { LabDevice } from "@/lib/api/types";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { useLabCatalogue } from "@/shared/lab/queries";
import { rangeText } from "./labText";
import { safeText } from "./startForm";

interface Props {
  device: LabDevice;
  varied: ReadonlySet<string>;
  error: string | undefined;
  onChange: (varied: ReadonlySet<string>) => void;
}

const TITLES = ["Vary", "Parameter", "Component", "Values", "Safe on a host", "Shows"] as const;

/** Which parameters a campaign varies; the others keep the device's default. */
export function ParameterPicker({ device, varied, error, onChange }: Props) {
  const catalogue = useLabCatalogue().data;
  const all = device.parameters.length === varied.size;
  return (
    <div role="group" aria-label="Parameters to vary">
      <Group justify="space-between" mb={4}>
        <Text size="sm" fw={500}>
          Parameters to vary
        </Text>
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => onChange(new Set(all ? [] : device.parameters.map(({ name }) => name)))}
        >
          {all ? "Clear all" : "Select all"}
        </Button>
      </Group>
      <HeadedTable label="Parameters" titles={TITLES} bordered>
        {device.parameters.map((parameter) => (
          <Table.Tr key={parameter.name}>
            <Table.Td>
              <Checkbox
                size="xs"
                aria-label={`Vary ${parameter.name}`}
                checked={varied.has(parameter.name)}
                onChange={(event) => {
                  const next = new Set(varied);
                  if (event.currentTarget.checked) next.add(parameter.name);
                  else next.delete(parameter.name);
                  onChange(next);
                }}
              />
            </Table.Td>
            <Table.Td style={{ fontFamily: "var(--ww-mono)" }}>{parameter.name}</Table.Td>
            <Table.Td>{parameter.component || "–"}</Table.Td>
            <Table.Td>{rangeText(parameter)}</Table.Td>
            <Table.Td>{safeText(catalogue, parameter.dimension) ?? "–"}</Table.Td>
            <Table.Td>{parameter.causes.join(", ") || "–"}</Table.Td>
          </Table.Tr>
        ))}
      </HeadedTable>
      {error !== undefined && (
        <Text size="xs" c="var(--ww-bad)" role="alert" mt={4}>
          {error}
        </Text>
      )}
    </div>
  );
}
