import "@/lib/ui/mantineMore.css";
import { AccountPage } from "@/features/accounts/own/AccountPage";
import { useTitle } from "@/lib/ui/useTitle";

export function AccountRoute() {
  useTitle("Account");
  return <AccountPage />;
}
