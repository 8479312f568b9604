import { useTranslation } from 'react-i18next';
import { StateMark } from '@/components/state-mark';
import type { UserFieldsFragment } from '@/gql/operations';
import { formatDateTime } from '@/lib/format';

/** Whether a user may sign in, and until when a one-time password is valid. */
export function UserStanding({ user }: { user: UserFieldsFragment }) {
  const { t } = useTranslation();
  const { disabledAt, passwordExpiresAt } = user;
  if (disabledAt) return <StateMark tone="bad" label={t('users.disabled')} />;
  if (passwordExpiresAt) {
    const time = formatDateTime(Date.parse(passwordExpiresAt));
    return <StateMark tone="warn" label={t('users.invited', { time })} />;
  }
  return <StateMark tone="good" label={t('users.enabled')} />;
}
