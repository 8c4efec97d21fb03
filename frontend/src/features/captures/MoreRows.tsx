import { Button, Group, Text } from "@mantine/core";
import { useState } from "react";

const STEP = 50;

/** The first rows of a long list; `more` shows further ones, and is null when all of the answer are shown. */
export function useShownRows<T>(rows: readonly T[]) {
  const [count, setCount] = useState(STEP);
  return { shown: rows.slice(0, count), more: rows.length > count ? () => setCount((was) => was + STEP * 4) : null };
}

/** How many rows are not shown, and the way to them. */
export function MoreRows({ more, left }: { more: (() => void) | null; left: number }) {
  if (left <= 0) return null;
  return (
    <Group justify="center" p={8} gap={12}>
      {more && (
        <Button variant="default" onClick={more}>
          Show more
        </Button>
      )}
      <Text size="sm" c="dimmed">
        {left.toLocaleString("en")} more
        {more ? "" : "; the command line prints all of them"}
      </Text>
    </Group>
  );
}
