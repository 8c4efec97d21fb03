import { Button, Group, Popover, Text } from "@mantine/core";
import { useState } from "react";

interface Props {
  label: string;
  question: string;
  confirm: string;
  loading?: boolean;
  onConfirm: () => void;
}

/** A button for what cannot be undone: it asks once, in place. */
export function ConfirmButton({ label, question, confirm, loading, onConfirm }: Props) {
  const [opened, setOpened] = useState(false);
  return (
    <Popover opened={opened} onChange={setOpened} width={280} withArrow trapFocus>
      <Popover.Target>
        <Button size="compact-xs" variant="default" loading={loading} onClick={() => setOpened(!opened)}>
          {label}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Text size="sm" mb={8}>
          {question}
        </Text>
        <Group justify="flex-end" gap={6}>
          <Button size="compact-xs" variant="default" onClick={() => setOpened(false)}>
            Cancel
          </Button>
          <Button
            size="compact-xs"
            onClick={() => {
              setOpened(false);
              onConfirm();
            }}
          >
            {confirm}
          </Button>
        </Group>
      </Popover.Dropdown>
    </Popover>
  );
}
