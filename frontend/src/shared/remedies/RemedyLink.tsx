import { Link } from "@tanstack/react-router";
import { ActionName } from "./ActionName";
import { useRemedy } from "./queries";

/** A remedy by the title of its action, as a way to its progress and undo. */
export function RemedyLink({ id }: { id: string }) {
  const remedy = useRemedy(id).data;
  return (
    <Link to="/remedies" search={{ remedy: id }}>
      {remedy ? <ActionName action={remedy.action} /> : "remedy"}
    </Link>
  );
}
