import { Text } from "@mantine/core";
import { StatusMark } from "@/lib/ui/StatusMark";
import { useMayChange } from "@/shared/session";
import { useAssignees } from "../assignees";

/** Who has the incident. Whoever could take it over sees that an assignee cannot sign in any more. */
export function Assignee({ name }: { name: string | null }) {
  const mayAssign = useMayChange();
  const known = useAssignees(name ?? "", mayAssign && name !== null);
  if (name === null) return <Text size="sm">unassigned</Text>;
  const gone = known.data !== undefined && !known.data.items.includes(name);
  return (
    <Text size="sm" component="span">
      assigned to {name}
      {gone && (
        <>
          {" · "}
          <span title="The account was disabled, or never existed: assign the incident to somebody else">
            <StatusMark tone="warn">cannot sign in</StatusMark>
          </span>
        </>
      )}
    </Text>
  );
}
