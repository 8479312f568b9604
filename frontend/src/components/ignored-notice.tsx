import { CloseButton } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Notice } from './notice';

type IgnoredNoticeProps = {
  /** The parts of the address that make no sense to the page. */
  ignored: readonly { name: string; value: string; reason: 'name' | 'value' }[];
  onDismiss?: () => void;
};

/** Shows which parts of the address have no effect: they do not filter the list. */
export function IgnoredNotice({ ignored, onDismiss }: IgnoredNoticeProps) {
  const { t } = useTranslation();
  if (ignored.length === 0) return null;
  return (
    <Notice
      tone="info"
      title={t('ignored.title')}
      action={
        onDismiss ? (
          <CloseButton size="sm" aria-label={t('word.close')} onClick={onDismiss} />
        ) : undefined
      }
    >
      {ignored.map(({ name, value, reason }) => (
        <div key={name}>{t(`ignored.${reason}`, { name, value })}</div>
      ))}
    </Notice>
  );
}
