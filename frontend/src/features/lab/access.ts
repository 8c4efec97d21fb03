import type { LabDevice } from "@/lib/api/types";
import { useSession } from "@/shared/session";

type Role = LabDevice["run_role"];

const RANK: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, admin: 2 };

export function covers(role: Role, needed: Role): boolean {
  return RANK[role] >= RANK[needed];
}

/**
 * Asks whether who is signed in has the permission lab:run where it needs this role; undefined until either role is loaded.
 * The server decides, this spares a refusal.
 */
export function useMayRun(): (needed: Role | undefined) => boolean | undefined {
  const role = useSession().data?.user.role;
  return (needed) => (role === undefined || needed === undefined ? undefined : covers(role, needed));
}
