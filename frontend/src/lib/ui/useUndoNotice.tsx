import { Button, Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useCallback, useRef } from "react";
import { asProblem } from "../api/problem";
import { newKey } from "../orderKey";

const SHOWN_MS = 12_000;

interface Last {
  id: string;
  takeBack: () => void;
}

/** Says what was done, with the way back where there is one: a button in the notice, and `z` for the newest. */
export function useUndoNotice() {
  const last = useRef<Last | null>(null);
  const announce = useCallback((message: string, undo: (() => Promise<string>) | null) => {
    const id = `done-${newKey()}`;
    const forget = () => {
      if (last.current?.id === id) last.current = null;
    };
    const takeBack = () => {
      forget();
      notifications.hide(id);
      undo?.().then(
        (done) => notifications.show({ message: `Undone: ${done}` }),
        (error: unknown) =>
          notifications.show({ color: "red", title: "Could not be undone", message: asProblem(error).message }),
      );
    };
    last.current = undo ? { id, takeBack } : null;
    notifications.show({
      id,
      autoClose: SHOWN_MS,
      onClose: forget,
      message: (
        <Group justify="space-between" wrap="nowrap" role="status">
          <Text size="sm">{message}</Text>
          {undo && (
            <Button size="compact-xs" variant="default" onClick={takeBack}>
              Undo ( z )
            </Button>
          )}
        </Group>
      ),
    });
  }, []);
  const undoLast = useCallback(() => last.current?.takeBack(), []);
  return { announce, undoLast };
}
