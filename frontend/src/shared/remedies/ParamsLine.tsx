import { Text } from "@mantine/core";
import { paramsText } from "./paramsText";
import { useActions } from "./queries";

/** The parameters of an order or a suggestion, by label and with units. */
export function ParamsLine({ action, params }: { action: string; params: Readonly<Record<string, unknown>> }) {
  const { data } = useActions();
  return (
    <Text span size="xs" c="dimmed">
      {paramsText(
        params,
        data?.find((each) => each.action === action),
      )}
    </Text>
  );
}
