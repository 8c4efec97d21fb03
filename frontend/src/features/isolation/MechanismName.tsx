import { Text, Tooltip } from "@mantine/core";
import { useWords } from "./useWords";

/** What was overloaded, in the catalogue's words; its meaning on hover and focus. */
export function MechanismName({ mechanism }: { mechanism: string | null }) {
  const { label, meaning } = useWords().mechanism(mechanism);
  if (!meaning) return <Text span>{label}</Text>;
  return (
    <Tooltip label={meaning} multiline maw={320} events={{ hover: true, focus: true, touch: true }}>
      <Text
        span
        size="sm"
        tabIndex={0}
        style={{ textDecoration: "underline dotted", textUnderlineOffset: 3, whiteSpace: "nowrap" }}
      >
        {label}
      </Text>
    </Tooltip>
  );
}
