import { useTranslation } from 'react-i18next';
import { Notice } from '@/components/notice';
import { formatDateTime } from '@/lib/format';
import type { GroupMembers } from './group-member';

/** Which replica acts for the absent master, since when and why; nothing while none does. */
export function ActingNotice({ group }: { group: GroupMembers }) {
  const { t } = useTranslation();
  const { actingBroker, actingSince, actingReason } = group;
  if (actingBroker === null || actingSince === null) return null;
  const at = formatDateTime(Date.parse(actingSince));
  return (
    <Notice tone="warn" title={t('groupMembers.acts', { name: actingBroker, at })}>
      {actingReason} {t('groupMembers.actsMeanwhile')}
    </Notice>
  );
}
