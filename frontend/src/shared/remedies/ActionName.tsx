import { useActions } from "./queries";

/** An action by the title of the catalogue; by its id until that is known. */
export function ActionName({ action }: { action: string }) {
  const { data } = useActions();
  return <>{data?.find((each) => each.action === action)?.title ?? action}</>;
}
