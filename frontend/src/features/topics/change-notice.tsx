import { useTranslation } from 'react-i18next';
import { MoveProgress } from '@/components/move-progress';
import { Notice } from '@/components/notice';
import { OperationLink } from '@/components/operation-link';
import type { QueueChangeFieldsFragment } from '@/gql/operations';

type ChangeNoticeProps = { change: QueueChangeFieldsFragment & { id: string } };

/** The unfinished change of a static topic: how far it is, and the way to its operation. */
export function ChangeNotice({ change }: ChangeNoticeProps) {
  const { t } = useTranslation();
  return (
    <Notice
      tone="info"
      title={t('moves.running')}
      action={<OperationLink operationId={change.id}>{t('moves.operation')}</OperationLink>}
    >
      {change.stale.length > 0 ? (
        <div>{t('moves.stale', { groups: change.stale.join(', ') })}</div>
      ) : null}
      {change.moves.length > 0 ? (
        <MoveProgress label={t('moves.title')} moves={change.moves} />
      ) : null}
    </Notice>
  );
}
