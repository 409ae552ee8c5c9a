;;; isoscope.el --- profiles beside the code, by eglot  -*- lexical-binding: t -*-

;; In init.el:
;;
;;   (load "/path/to/isoscope.el")
;;   (isoscope-setup '(c-mode c++-mode) :launch [(:name "server" :program "./server")])
;;
;; and M-x eglot in a file.  Shares stand above functions, hot lines are Flymake's notes, eldoc tells callers and
;; callees.  M-x isoscope-run, -attach, -compare, -window, -clear, -status.  eglot has one server for a buffer: where another one
;; is wanted beside it, M-x eglot asks which.

;;; Code:

(require 'eglot)
(require 'cl-lib)

(defclass isoscope-server (eglot-lsp-server) () :documentation "`isoscope lsp'.")

(defvar isoscope-command '("isoscope" "lsp") "The server, and its options.")

(defun isoscope-setup (modes &rest options)
  "Let eglot start isoscope in MODES.  OPTIONS: its initializationOptions, such as :launch and :sourceMap."
  (add-to-list 'eglot-server-programs
               (cons modes (lambda (&rest _)
                             (cons 'isoscope-server (append isoscope-command (list :initializationOptions options)))))))

(cl-defmethod eglot-client-capabilities ((_server isoscope-server))
  "The server tells when there is something new."
  (let ((all (cl-call-next-method)))
    (setf (plist-get (plist-get all :workspace) :codeLens) '(:refreshSupport t))
    all))

(cl-defmethod eglot-handle-request ((server isoscope-server) (_method (eql workspace/codeLens/refresh)))
  "Samples of SERVER came, or others are shown."
  (dolist (buffer (eglot--managed-buffers server))
    (with-current-buffer buffer (isoscope-refresh)))
  nil)

(defface isoscope-lens '((t :inherit shadow :height 0.9)) "Shares above functions." :group 'eglot)

(defun isoscope-refresh ()
  "Ask for the lenses of this buffer, and draw them."
  (interactive)
  (let ((buffer (current-buffer)))
    (jsonrpc-async-request
     (eglot-current-server) :textDocument/codeLens
     (list :textDocument (eglot--TextDocumentIdentifier))
     :success-fn (lambda (lenses)
                   (when (buffer-live-p buffer)
                     (with-current-buffer buffer (isoscope--draw lenses))))
     :error-fn #'ignore)))

(defun isoscope--draw (lenses)
  "Draw LENSES, each above its line."
  (save-excursion
    (save-restriction
      (widen)
      (remove-overlays nil nil 'isoscope t)
      (cl-loop for lens across lenses
               do (isoscope--draw-one (plist-get (plist-get (plist-get lens :range) :start) :line)
                                      (plist-get (plist-get lens :command) :title))))))

(defun isoscope--draw-one (line title)
  "Draw TITLE above LINE, which counts from 0."
  (goto-char (point-min))
  (forward-line line)
  (let ((overlay (make-overlay (point) (point) nil t)))
    (overlay-put overlay 'isoscope t)
    (overlay-put overlay 'before-string (propertize (concat title "\n") 'face 'isoscope-lens))))

(defun isoscope--do (command &rest words)
  "Let the server do COMMAND with WORDS; say what became of it."
  (let ((result (eglot-execute-command (eglot-current-server) (concat "isoscope." command) (vconcat words))))
    (when (plist-get result :text) (message "%s" (plist-get result :text)))
    result))

(defun isoscope-run (name)
  "Run the launch entry NAME."
  (interactive "sLaunch entry (empty: the only one): ")
  (if (string-empty-p name) (isoscope--do "run") (isoscope--do "run" name)))

(defun isoscope-attach (source)
  "Show SOURCE: a service's URI or info file, or a session."
  (interactive "sURI or file (empty: what runs): ")
  (if (string-empty-p source) (isoscope--do "attach") (isoscope--do "attach" source)))

(defun isoscope-compare (source)
  "Compare with SOURCE."
  (interactive "sSession (empty: the run before): ")
  (if (string-empty-p source) (isoscope--do "compare") (isoscope--do "compare" (expand-file-name source))))

(defun isoscope-window (from to)
  "Show what was sampled FROM..TO, in seconds since the first sample."
  (interactive "nFrom second: \nnTo second: ")
  (isoscope--do "window" from to))

(defun isoscope-clear ()
  "Forget all samples."
  (interactive)
  (isoscope--do "clear"))

(defun isoscope-status ()
  "Say what is shown."
  (interactive)
  (isoscope--do "status"))

(provide 'isoscope)
;;; isoscope.el ends here
