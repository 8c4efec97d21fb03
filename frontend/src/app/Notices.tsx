import { useNotifications } from "@mantine/notifications";
import { lazy, Suspense, useState } from "react";

const NoticeStack = lazy(() => import("./NoticeStack").then((module) => ({ default: module.NoticeStack })));

/** Short notices of what was done. Their code is fetched with the first of them, and stays. */
export function Notices() {
  const { notifications } = useNotifications();
  const [wanted, setWanted] = useState(false);
  if (notifications.length > 0 && !wanted) setWanted(true);
  return wanted ? (
    <Suspense>
      <NoticeStack />
    </Suspense>
  ) : null;
}
