import "@/lib/ui/mantineMore.css";
import { Kbd, Modal, Stack, Table, Title } from "@mantine/core";
import { SHORTCUTS } from "./useShortcuts";

export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title="Keyboard shortcuts" size="lg">
      <Stack gap={12}>
        {SHORTCUTS.map(({ where, keys }) => (
          <section key={where} aria-label={where}>
            <Title order={3} size="h3">
              {where}
            </Title>
            <Table verticalSpacing={3}>
              <Table.Tbody>
                {keys.map(([names, what]) => (
                  <Table.Tr key={names}>
                    <Table.Td w={150}>
                      <Kbd size="sm">{names}</Kbd>
                    </Table.Td>
                    <Table.Td>{what}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </section>
        ))}
      </Stack>
    </Modal>
  );
}
