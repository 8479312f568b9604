import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Notice } from '@/components/notice';
import { ApiError, isFinal } from '@/lib/api-error';
import { sentence } from '@/lib/words';

/** Why a message was not sent, or that it may be stored: then where to look before sending again. */
export function SendRefusal({ error, topicName }: { error: Error; topicName: string }) {
  const { t } = useTranslation();
  const facts = error instanceof ApiError ? error.facts : {};
  const uniqueKey = typeof facts.uniqueKey === 'string' ? facts.uniqueKey : undefined;
  if (uniqueKey === undefined && (isFinal(error) || typeof facts.reason === 'string')) {
    return (
      <Notice tone="bad" title={t('send.refused')}>
        {sentence(error.message)}
      </Notice>
    );
  }
  const search = uniqueKey
    ? ({ by: 'unique', topic: topicName, key: uniqueKey } as const)
    : ({ by: 'time', topic: topicName } as const);
  return (
    <Notice
      tone="unknown"
      title={t('send.unknown')}
      action={
        <Link
          to="/messages"
          search={(now) => ({ ...(now.cluster ? { cluster: now.cluster } : {}), ...search })}
        >
          {t('send.look')}
        </Link>
      }
    >
      {sentence(error.message)} {t('send.unknownNext')}
    </Notice>
  );
}
