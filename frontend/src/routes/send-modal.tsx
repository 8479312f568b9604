import { Modal } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { SendMessage } from './send-message';

type SendModalProps = {
  isOpen: boolean;
  clusterName: string;
  topicName?: string | undefined;
  groups: readonly string[] | null;
  onClose: () => void;
};

/** Over the page the form that sends a message, and then where the message is stored. */
export function SendModal({ isOpen, onClose, ...target }: SendModalProps) {
  const { t } = useTranslation();
  const to = target.topicName ?? target.clusterName;
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={t('order.sendMessage.title', { target: to })}
      closeButtonProps={{ 'aria-label': t('word.close') }}
      size="lg"
      centered
    >
      <SendMessage {...target} />
    </Modal>
  );
}
